import { Buffer } from 'node:buffer';
import { headers as headerNames, limits, type PolicyCheck } from '@actlog/protocol';
import { ignoreRejection } from '../ignore-rejection.ts';
import type { Reporter } from '../reporter.ts';
import { type Decision, parseDecision } from './decision.ts';
import type { GuardSettings } from './guard-settings.ts';
import type { GuardedCall } from './guarded-call.ts';

/** Answers that refuse a question for what it holds. */
const refusals: ReadonlySet<unknown> = new Set([400, 413, 422]);

/**
 * Whether a question may be beyond what the service takes. Who sends so much may see the connection break, or a proxy's
 * 502, before the 413 has arrived.
 */
function isTooLarge(question: PolicyCheck): boolean {
  return Buffer.byteLength(JSON.stringify(question)) > limits.maxBodyBytes;
}

/** What a header can hold (RFC 9110, section 5.5). */
const printableAscii = /^[\x20-\x7e]+$/;

/** Options of one question. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly deadlineMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What answers the guard's questions: `client.policies`. */
export interface PolicyChecker {
  check(body: PolicyCheck, options: CheckOptions): PromiseLike<unknown>;
}

/** Puts a guard's questions to the service, and shows of a call's arguments what the user lets it see. */
export class PolicyQuestions {
  readonly #settings: GuardSettings;
  /** Undefined when nothing is configured to ask. */
  readonly #policies: PolicyChecker | undefined;
  readonly #reporter: Reporter;

  constructor(settings: GuardSettings, policies: PolicyChecker | undefined, reporter: Reporter) {
    this.#settings = settings;
    this.#policies = policies;
    this.#reporter = reporter;
  }

  /**
   * One question; undefined when no answer came that can be understood, `taken` when its id is another action's,
   * `refused` when it may be for what was shown of the arguments.
   */
  async ask(call: GuardedCall, options: CheckOptions): Promise<Decision | 'taken' | 'refused' | undefined> {
    const question = this.#question(call);
    const { framework = '' } = call;
    try {
      const headers = {
        ...options.headers,
        // A name that cannot stand there would make the whole question fail; the body has it, too.
        ...(printableAscii.test(framework) ? { [headerNames.framework]: framework } : {}),
      };
      const answer = await this.#policies?.check(question, {
        ...options,
        headers,
        signal: call.signal,
      });
      const decision = parseDecision(answer, call.heldBy);
      if (!decision && this.#policies) {
        this.#reporter.failed(
          'guard-answer',
          new Error('The answer to a policy check cannot be understood.'),
        );
      }
      return decision;
    } catch (error) {
      const { status, code } = (error ?? {}) as { status?: unknown; code?: unknown };
      if (status === 409) return 'taken';
      const isHoldOver = code === 'TIMEOUT' && Number(options.deadlineMs) < Number(options.timeoutMs);
      if (!call.signal?.aborted && !isHoldOver) {
        // Of what the service says no more than its code: it may quote what was shown.
        const reason = status === undefined ? String(code ?? 'no answer') : `HTTP ${status}: ${code}`;
        const message = `A policy check failed (${reason}).`;
        this.#reporter.failed('guard', new Error(message, { cause: error }));
      }
      const isShown = question.action.arguments !== undefined;
      return isShown && (refusals.has(status) || isTooLarge(question)) ? 'refused' : undefined;
    }
  }

  #question(call: GuardedCall): PolicyCheck {
    const { environment } = this.#settings;
    const shown = this.#shown(call);
    return {
      agentId: call.agentId,
      sessionId: call.sessionId,
      action: {
        toolName: call.toolName,
        argumentsHash: call.argumentsHash,
        ...(shown ? { arguments: shown } : {}),
      },
      ...(call.framework ? { framework: call.framework } : {}),
      ...(environment ? { environment } : {}),
      actionId: call.actionId,
    };
  }

  /** What the service may see of the arguments, read back from its JSON: that it can be sent is certain then. */
  #shown(call: GuardedCall): Record<string, unknown> | undefined {
    const { showArguments } = this.#settings;
    if (!showArguments || !call.isShown) return undefined;
    let problem = 'threw';
    try {
      const given = showArguments(call.arguments, call.toolName);
      if (given === undefined || given === null) return undefined;
      problem = 'gave what is no JSON object';
      // A promise has no fields of its own, and would be shown as an object that holds nothing.
      if (typeof (given as { then?: unknown }).then === 'function') {
        ignoreRejection(given);
        throw new TypeError(problem);
      }
      const shown: unknown = JSON.parse(JSON.stringify(given));
      // The service refuses anything else, and a check that it refuses decides nothing.
      if (typeof shown === 'object' && shown !== null && !Array.isArray(shown)) {
        return shown as Record<string, unknown>;
      }
    } catch {
      // Its error could quote an argument.
    }
    call.isShown = false;
    const message = `guard.showArguments ${problem}; nothing was shown.`;
    this.#reporter.failed('show-arguments', new Error(message));
    return undefined;
  }
}
