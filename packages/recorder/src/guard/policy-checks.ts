import { Buffer } from 'node:buffer';
import { type ArgumentOrigins, headers as headerNames, limits, type PolicyCheck } from '@actlog/protocol';
import { parseExactJson, stringifyExactJson } from '@actlog/tool-call';
import { ignoreRejection } from '../lib/timers.ts';
import type { FactRefusals, OptionalCheckFacts } from '../reporting/fact-refusals.ts';
import type { Reporter } from '../reporting/reporter.ts';
import {
  CallPrincipals,
  type GuardDecision,
  type GuardSettings,
  type ReadDecision,
} from './guard-options.ts';
import type { GuardedCall } from './guarded-call.ts';
import { type Decision, type HoldingPolicy, parseDecision } from './guarded-call.ts';

const decisions: readonly unknown[] = ['allow', 'deny', 'require_approval'];

/** Decision of a response, or the reason why it has none that can be read. */
type ReadingResult = { readonly decision: Decision } | { readonly problem: string };

/**
 * Reads the decision of a response with the function of the user, or as the reference profile defines it.
 *
 * @param held - policy that held the action, from an earlier response
 */
function readDecision(body: unknown, read: ReadDecision | undefined, held?: HoldingPolicy): ReadingResult {
  if (read) return readForeign(body, read);
  const decision = parseDecision(body, held);
  const problem =
    'A response to a policy check has no decision "allow", "deny" or "require_approval": map the decisions of this service with guard.readDecision.';
  return decision ? { decision } : { problem };
}

function readForeign(body: unknown, read: ReadDecision): ReadingResult {
  let given: unknown;
  try {
    given = read(body as Readonly<Record<string, unknown>>);
  } catch {
    // The error could quote an argument.
    return { problem: 'guard.readDecision threw an error for a response to a policy check.' };
  }
  ignoreRejection(given);
  const mapped = (given ?? {}) as Partial<GuardDecision>;
  const { decision, deniedBy } = mapped;
  if (decision === undefined || !decisions.includes(decision)) {
    const problem =
      'guard.readDecision returned no decision "allow", "deny" or "require_approval" for a response to a policy check.';
    return { problem };
  }
  const isDenial = decision === 'deny';
  const isTimedOut = isDenial && mapped.isTimedOut === true;
  return {
    decision: {
      decision,
      isTimedOut,
      deniedBy: isDenial && !isTimedOut ? (deniedBy === 'person' ? 'person' : 'policy') : undefined,
      policyId: textOf(mapped.policyId),
      policyName: textOf(mapped.policyName),
      reason: textOf(mapped.reason),
      pendingActionId: textOf(mapped.pendingActionId),
    },
  };
}

/** Returns a string, or a number as a string; undefined for anything else and for the empty string. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/**
 * Maximum size of a response, in bytes: far more than the decisions of a thousand policies. Parsing does not end at a time
 * limit.
 */
const maxResponseBytes = 1024 * 1024;

/** Statuses that reject a check because of its content. */
const refusals: ReadonlySet<unknown> = new Set([400, 413, 422]);

/**
 * Returns `true` if a check may exceed the service's size limit. The client may then see a broken connection, or a
 * proxy's 502, before the 413 arrives.
 */
function isTooLarge(question: PolicyCheck): boolean {
  return Buffer.byteLength(JSON.stringify(question)) > limits.maxBodyBytes;
}

/** Returns a check with all of its facts, then without each kind of optional facts, then without all of them. */
function withoutFacts(
  question: PolicyCheck,
): readonly { readonly question: PolicyCheck; readonly without: readonly OptionalCheckFacts[] }[] {
  const { acceptsChanges, origins } = question.action;
  const isPlaced = question.subagent !== undefined || question.parentAgentIds !== undefined;
  const facts: readonly OptionalCheckFacts[] = [
    ...(acceptsChanges ? ['changes' as const] : []),
    ...(isPlaced ? ['subagents' as const] : []),
    ...(origins ? ['origins' as const] : []),
  ];
  const attempts = [[], ...facts.map((fact) => [fact]), ...(facts.length > 1 ? [facts] : [])];
  return attempts.map((without) => ({ question: withoutThese(question, without), without }));
}

function withoutThese(question: PolicyCheck, without: readonly OptionalCheckFacts[]): PolicyCheck {
  if (without.length === 0) return question;
  const { subagent, parentAgentIds, ...alone } = question;
  const { acceptsChanges, origins, ...action } = question.action;
  return {
    ...(without.includes('subagents') ? alone : question),
    action: {
      ...action,
      ...(origins && !without.includes('origins') && { origins }),
      ...(acceptsChanges && !without.includes('changes') && { acceptsChanges }),
    },
  };
}

/** Returns `true` for an error response of a reachable service that has no room to hold or record the action. */
function isQuotaRefusal(error: unknown): boolean {
  const { details } = (error ?? {}) as { details?: unknown };
  if (!Array.isArray(details)) return false;
  return details.some((detail) => (detail as { code?: unknown } | null)?.code === 'quota_exceeded');
}

/** Returns `true` for an error response of a reachable service, for which the caller may not act as the call's agent. */
function isAgentRefusal(error: unknown): boolean {
  const { status, details } = (error ?? {}) as { status?: unknown; details?: unknown };
  if (status !== 403 || !Array.isArray(details)) return false;
  return details.some((detail) => (detail as { path?: unknown } | null)?.path === 'agentId');
}

/** Returns `true` for a response that exceeds the limit. */
function isTooLong(error: unknown): boolean {
  const { status, code, message } = error as { status?: unknown; code?: unknown; message?: unknown };
  const isSuccess = Number(status) >= 200 && Number(status) < 300;
  return (
    isSuccess &&
    code === 'RESPONSE_SHAPE' &&
    String(message).includes(`larger than ${maxResponseBytes} bytes`)
  );
}

/** Values that a header can contain (RFC 9110, section 5.5). */
const printableAscii = /^[\x20-\x7e]+$/;

/** Options of one check. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly deadlineMs?: number | undefined;
  readonly maxResponseBytes?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Sends the guard's checks: `client.policies`. */
export interface PolicyChecker {
  check(body: PolicyCheck, options: CheckOptions): PromiseLike<unknown>;
}

/** The part of a check that differs if an approver changed the arguments. */
export interface ChangedAction {
  readonly argumentsHash: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly changedFrom: string;
  readonly origins?: ArgumentOrigins;
}

/** Sends a guard's checks to the service, with the arguments that the user allows. */
export class PolicyChecks {
  readonly #settings: GuardSettings;
  /** Undefined if no service is configured. */
  readonly #policies: PolicyChecker | undefined;
  readonly #reporter: Reporter;
  readonly #refusals: FactRefusals;
  readonly #principals: CallPrincipals;
  /**
   * Arguments sent for a call, by the hash of all arguments. Selected only once, because an approval is bound to them.
   */
  readonly #chosen = new WeakMap<GuardedCall, { hash: string; shown: Record<string, unknown> | undefined }>();

  constructor(
    settings: GuardSettings,
    policies: PolicyChecker | undefined,
    reporter: Reporter,
    refusals: FactRefusals,
  ) {
    this.#settings = settings;
    this.#principals = new CallPrincipals(settings.principal, reporter);
    this.#policies = policies;
    this.#reporter = reporter;
    this.#refusals = refusals;
  }

  /**
   * Sends one check. Returns undefined without a response, `unreadable` if its decision cannot be read, `taken` if its
   * id belongs to another action, `refused` if it may have been rejected because of the arguments, `no-room` if a quota
   * of the tenant is exhausted, `other-agent` if the caller may not act as the call's agent.
   *
   * @param changed - the action with the arguments that an approver changed; default: the requested one
   */
  async ask(
    call: GuardedCall,
    options: CheckOptions,
    changed?: ChangedAction,
  ): Promise<Decision | 'unreadable' | 'taken' | 'refused' | 'no-room' | 'other-agent' | undefined> {
    const principal = this.#principals.of(call);
    if (principal === null) return undefined;
    const requested = this.#question(call, principal);
    const question = changed ? { ...requested, action: { ...requested.action, ...changed } } : requested;
    const { framework = '', traceparent } = call;
    try {
      const headers = {
        ...options.headers,
        // An invalid header value would fail the whole check; the body contains the name too.
        ...(printableAscii.test(framework) ? { [headerNames.framework]: framework } : {}),
        ...(traceparent === undefined ? {} : { [headerNames.callTraceparent]: traceparent }),
      };
      const response = await this.#send(question, {
        ...options,
        headers,
        maxResponseBytes,
        signal: call.signal,
      });
      if (!this.#policies) return undefined;
      const result = readDecision(response, this.#settings.readDecision, call.heldBy);
      if ('decision' in result) return result.decision;
      this.#reporter.failed('guard-response', new Error(result.problem));
      return 'unreadable';
    } catch (error) {
      const { status, code } = (error ?? {}) as { status?: unknown; code?: unknown };
      if (isQuotaRefusal(error)) {
        const message = `A policy check was rejected (HTTP ${status}: ${code}): a quota of the tenant is exhausted. The call was not checked. Decide pending actions, or have the operator raise the quota that "actlog quota list" shows as exhausted.`;
        this.#reporter.failed('guard', new Error(message, { cause: error }));
        return 'no-room';
      }
      if (isAgentRefusal(error)) {
        const message = `A policy check was rejected (HTTP ${status}: ${code}): the API key or token may not act as the agent of the call, which was not run. Use a key of that agent, or set agentId to an agent of the key.`;
        this.#reporter.failed('guard', new Error(message, { cause: error }));
        return 'other-agent';
      }
      if (status === 409) return 'taken';
      // It may have been a denial.
      if (isTooLong(error)) {
        const problem = `A response to a policy check is larger than ${maxResponseBytes} bytes. The call was not run.`;
        this.#reporter.failed('guard-response', new Error(problem, { cause: error }));
        return 'unreadable';
      }
      const isHoldOver = code === 'TIMEOUT' && Number(options.deadlineMs) < Number(options.timeoutMs);
      if (!call.signal?.aborted && !isHoldOver) {
        // Use only the code of the service's error, whose message may quote arguments.
        const reason = status === undefined ? String(code ?? 'no response') : `HTTP ${status}: ${code}`;
        const message = `A policy check failed (${reason}).`;
        this.#reporter.failed('guard', new Error(message, { cause: error }));
      }
      const isShown = question.action.arguments !== undefined;
      return isShown && (refusals.has(status) || isTooLarge(question)) ? 'refused' : undefined;
    }
  }

  /**
   * Sends a check. If the service rejects it because of its optional facts, repeats it without one kind of them, or
   * without all if that is not enough.
   */
  async #send(question: PolicyCheck, options: CheckOptions): Promise<unknown> {
    let rejection: unknown;
    for (const left of withoutFacts(question)) {
      try {
        const response = await this.#policies?.check(left.question, options);
        // Only now is it certain that these facts were the reason.
        for (const facts of left.without) this.#refusals.rememberCheck(facts);
        return response;
      } catch (error) {
        rejection ??= error;
        if (!refusals.has((error as { status?: unknown } | null)?.status)) throw error;
      }
    }
    throw rejection;
  }

  #question(call: GuardedCall, principal: string | undefined): PolicyCheck {
    const { environment } = this.#settings;
    const shown = this.shownOf(call);
    return {
      agentId: call.agentId,
      sessionId: call.sessionId,
      action: {
        toolName: call.toolName,
        argumentsHash: call.argumentsHash,
        ...(call.origins && !this.#refusals.ofChecks('origins') ? { origins: call.origins } : {}),
        ...(shown ? { arguments: shown } : {}),
        // Without shown arguments, there is nothing that an approver could change.
        ...(shown && call.acceptsChanges && !this.#refusals.ofChecks('changes')
          ? { acceptsChanges: true }
          : {}),
        ...(call.changedFrom === undefined ? {} : { changedFrom: call.changedFrom }),
      },
      ...(call.framework ? { framework: call.framework } : {}),
      ...(environment ? { environment } : {}),
      ...(call.holdSeconds === undefined ? {} : { holdSeconds: call.holdSeconds }),
      ...(principal === undefined ? {} : { principal }),
      ...(call.place && !this.#refusals.ofChecks('subagents') ? call.place : {}),
      actionId: call.actionId,
    };
  }

  /** Returns the arguments that a call's checks show; undefined for none. */
  shownOf(call: GuardedCall): Record<string, unknown> | undefined {
    if (!this.#settings.showArguments || !call.isShown) return undefined;
    const chosen = this.#chosen.get(call);
    if (chosen?.hash === call.argumentsHash) return chosen.shown;
    const shown = this.#choose(call, this.#settings.showArguments);
    this.#chosen.set(call, { hash: call.argumentsHash, shown });
    return shown;
  }

  /**
   * Selects the arguments for the service and parses them back from JSON, so that they are certain to be serializable.
   */
  #choose(
    call: GuardedCall,
    showArguments: NonNullable<GuardSettings['showArguments']>,
  ): Record<string, unknown> | undefined {
    let problem = 'threw';
    try {
      const given = showArguments(call.arguments, call.toolName);
      if (given === undefined || given === null) return undefined;
      problem = 'returned a value that is not a JSON object';
      // A promise would be sent as an empty object.
      if (typeof (given as { then?: unknown }).then === 'function') {
        ignoreRejection(given);
        throw new TypeError(problem);
      }
      // A BigInt keeps its digits, as a number of a JSON text does.
      const shown: unknown = parseExactJson(stringifyExactJson(given) ?? '');
      // The service rejects anything else, and a rejected check decides nothing.
      if (typeof shown === 'object' && shown !== null && !Array.isArray(shown)) {
        return shown as Record<string, unknown>;
      }
    } catch {
      // The error could quote an argument.
    }
    call.isShown = false;
    const message = `guard.showArguments ${problem}; no arguments were sent.`;
    this.#reporter.failed('show-arguments', new Error(message));
    return undefined;
  }
}
