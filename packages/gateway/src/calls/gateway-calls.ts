import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import type { GuardOptions, Recorder, ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type CallParams,
  callText,
  type HookedCall,
  toolContent,
  toolOutcomeStatus,
} from '@actlog/recorder/adapter';
import { type ServerTools, ToolChangedError } from '../tools/server-tools.ts';
import { version } from '../version.ts';

/** Maximum number of actions to remember. */
const maxActions = 1000;

/** Session and agent of a call. */
export interface Caller {
  readonly sessionId: string;
  readonly agentId: string | undefined;
}

/**
 * Actions that waited for a person when their call ended. The same call, repeated by the model, is checked as the same
 * action, so that the approval of the first lets the second run. Each is used once.
 */
class PendingApprovals {
  readonly #actionIds = new Map<string, string>();

  /** Remembers the action of a call. */
  keep(caller: Caller, params: CallParams, actionId: string): void {
    const key = keyOf(caller, params);
    this.#actionIds.delete(key); // re-added as the newest
    this.#actionIds.set(key, actionId);
    const [oldest] = this.#actionIds.keys();
    if (this.#actionIds.size > maxActions && oldest !== undefined) this.#actionIds.delete(oldest);
  }

  /** Returns the action of an earlier, equal call, and forgets it. */
  take(caller: Caller, params: CallParams): string | undefined {
    const key = keyOf(caller, params);
    const actionId = this.#actionIds.get(key);
    this.#actionIds.delete(key);
    return actionId;
  }
}

/** Returns a key that does not keep the arguments in memory. */
function keyOf({ sessionId, agentId }: Caller, params: CallParams): string {
  return hash('sha256', JSON.stringify([agentId, sessionId, callText(params)]));
}

/** Result of a call that was sent as a notification, which has no response. */
export const unanswered = Symbol('unanswered');

/** Status of an accepted call whose end is not visible. */
const accepted = 202;
/** Status of a call that did not run because of the definition of its tool. */
const forbidden = 403;

/** Time limit of a hold without progress notifications, in milliseconds: most clients give up after a minute. */
const briefHoldMs = 50_000;
/** Time limit of a hold with progress notifications, in milliseconds. */
const patientHoldMs = 300_000;

/** Options of the calls of a gateway. */
export interface GatewayCallsOptions {
  /** Recorder of the calls, with its guard. */
  readonly recorder: Recorder;
  /** Id of the agent. Default: the name that the client gives itself, otherwise the recorder's. */
  readonly agentId?: string | undefined;
  /**
   * Maximum wait for a person's approval, in milliseconds. Default: 300,000 for a call with a progress token, whose
   * client is notified while it waits; 50,000 for others.
   */
  readonly holdTimeoutMs?: number | undefined;
  /** Selects the arguments that the approver and conditions see. Default: as the recorder does. */
  readonly showArguments?: GuardOptions['showArguments'];
  /** Text in front of each tool's name in events and for policies, such as `files.`. Default: none. */
  readonly toolPrefix?: string | undefined;
  /** `true` announces each call to the server, for servers that record with actlog themselves. Default `false`. */
  readonly announces?: boolean | undefined;
  /** Tools of the server, whose definitions are pinned. Default: definitions pass unread. */
  readonly tools?: ServerTools | undefined;
  /** `true` if the clients prove on whose behalf they call tools. Default: the principal is the recorder's. */
  readonly hasPrincipals?: boolean | undefined;
}

/** Calls of all sessions of a gateway. */
export class GatewayCalls {
  readonly agentId: string | undefined;
  readonly announces: boolean;
  /** Tools of the server; undefined if definitions pass unread. */
  readonly tools: ServerTools | undefined;
  /** Actions that wait for a person, by the call that repeats them. */
  readonly pending = new PendingApprovals();
  readonly #patient: AdapterCalls;
  readonly #brief: AdapterCalls;
  readonly #holdTimeoutMs: number | undefined;
  readonly #principals = new AsyncLocalStorage<string>();

  /** @throws RangeError or TypeError when an option is invalid */
  constructor(options: GatewayCallsOptions) {
    if ('guard' in options) {
      throw new TypeError('guard has no effect here: pass it to the recorder, new Recorder({ guard }).');
    }
    const { recorder, agentId, holdTimeoutMs, showArguments, toolPrefix, announces = false, tools } = options;
    const principal = options.hasPrincipals ? () => this.#principals.getStore() : undefined;
    this.agentId = agentId;
    this.announces = announces;
    this.tools = tools;
    this.#holdTimeoutMs = holdTimeoutMs;
    const traits = {
      framework: 'mcp',
      sdk: `@actlog/gateway/${version}`,
      statusOf,
      resultOf: toolContent,
    };
    const toolName = toolPrefix ? (name: string) => `${toolPrefix}${name}` : undefined;
    const callsWith = (defaultMs: number) =>
      new AdapterCalls(traits, {
        recorder,
        agentId,
        toolName,
        guard: { holdTimeoutMs: holdTimeoutMs ?? defaultMs, showArguments, principal },
      });
    this.#patient = callsWith(patientHoldMs);
    this.#brief = callsWith(briefHoldMs);
  }

  /** `true` if the guard may stop a call from running. */
  get isGuarding(): boolean {
    return this.#patient.isGuarding;
  }

  /** Returns the calls that wait for a person as long as the client does. */
  for({ canNotify }: { readonly canNotify: boolean }): AdapterCalls {
    return canNotify ? this.#patient : this.#brief;
  }

  /** Runs a function, whose calls are made on behalf of a principal. */
  onBehalfOf<Result>(principal: string | undefined, run: () => Result): Result {
    return principal === undefined ? run() : this.#principals.run(principal, run);
  }

  /** Returns how long a call waits for a person, in milliseconds. */
  holdMs({ canNotify }: { readonly canNotify: boolean }): number {
    return this.#holdTimeoutMs ?? (canNotify ? patientHoldMs : briefHoldMs);
  }
}

function statusOf(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  if (!outcome.ok && outcome.error instanceof ToolChangedError) return forbidden;
  return outcome.ok && outcome.result === unanswered ? accepted : toolOutcomeStatus(outcome, call);
}
