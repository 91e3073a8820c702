import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { abandonedCall, type BegunCall, type HookedCall } from '@actlog/recorder/adapter';

/** Maximum number of calls to remember, because the end of a run is not always reported. */
const maxCalls = 10_000;

/** Location of a call, which Claude Code passes to every hook. */
export interface CallPlace {
  readonly session_id: string;
  /** Subagent that makes the call; undefined for the main thread. */
  readonly agent_id?: string;
}

/** A call as described by a permission prompt, without its session. */
export interface PromptedCall {
  readonly toolUseID: string;
  /** Subagent that makes the call; undefined for the main thread. */
  readonly agentID?: string;
}

/** A call that the guard has allowed. */
export interface AdmittedCall {
  readonly call: HookedCall;
  readonly begun: BegunCall;
}

interface KnownCall extends CallPlace {
  /** Undefined if the call has ended or is not covered. */
  admitted: AdmittedCall | undefined;
}

/** Calls that hooks have seen start, until the end of their turn. */
export class OpenCalls {
  readonly #calls = new Map<string, KnownCall>();
  /** Running calls. */
  readonly #open = new Set<KnownCall>();
  /** The user's signal, which ends all runs that use it. */
  readonly signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  /** Tracks a call that is allowed, or that needs no handling because it is denied or not covered. */
  note(toolUseId: string, place: CallPlace, admitted?: AdmittedCall): void {
    const { session_id, agent_id } = place;
    const call = { session_id, ...(agent_id && { agent_id }), admitted };
    this.forget(toolUseId, place);
    this.#calls.set(name(toolUseId, place), call);
    const [oldest] = this.#calls;
    if (this.#calls.size > maxCalls && oldest) this.#forget(...oldest);
    if (!admitted) return;
    if (this.signal?.aborted) void admitted.begun.end(aborted);
    else this.#open.add(call);
    // The signal may be shared by many queries and outlive them, so listen only while a call is running.
    if (this.#open.size === 1) this.signal?.addEventListener('abort', this.#abort);
  }

  /** Ends a call. Returns `true` if it was known; only its first end counts. */
  async end(toolUseId: string, place: CallPlace, outcome: ToolOutcome): Promise<boolean> {
    const call = this.#calls.get(name(toolUseId, place));
    const begun = call && this.#close(call);
    await begun?.end(outcome);
    return call !== undefined;
  }

  /** Ends an allowed call that the user then denied. */
  async refuse(prompted: PromptedCall): Promise<void> {
    const call = this.#findPrompted(prompted);
    await (call && this.#close(call))?.end(refused);
  }

  /** Forgets a call that has ended. */
  forget(toolUseId: string, place: CallPlace): void {
    const key = name(toolUseId, place);
    const call = this.#calls.get(key);
    if (call) this.#forget(key, call);
  }

  /** Ends all remaining calls of an interrupted main thread or subagent, which no hook has reported. */
  async leave({ session_id, agent_id }: CallPlace): Promise<void> {
    const left = [...this.#calls].filter(
      ([, call]) => call.session_id === session_id && call.agent_id === agent_id,
    );
    for (const [key] of left) this.#calls.delete(key);
    await this.#endAll(left.map(([, call]) => call));
  }

  /** Runs a step as part of a call, if it is known and running. */
  step<Result>(toolUseId: string, run: () => Result): Result {
    const admitted = this.#find(toolUseId)?.admitted;
    return admitted ? admitted.begun.step(run) : run();
  }

  /** Returns the running call of a prompt, if it was allowed. */
  underWay(prompted: PromptedCall): AdmittedCall | undefined {
    return this.#findPrompted(prompted)?.admitted;
  }

  /**
   * Replaces an allowed call with another one; the first is not recorded.
   *
   * @throws the error of `begin`, which ends the call
   */
  async replace(prompted: PromptedCall, begin: () => Promise<AdmittedCall>): Promise<void> {
    const known = this.#findPrompted(prompted);
    const former = known?.admitted;
    if (!known || !former) return;
    await former.begun.end(replaced);
    let admitted: AdmittedCall;
    try {
      admitted = await begin();
    } catch (error) {
      this.#close(known);
      throw error;
    }
    if (known.admitted !== former) {
      // The run ended in the meantime.
      await admitted.begun.end(aborted);
      throw aborted.error;
    }
    known.admitted = admitted;
  }

  #findPrompted({ toolUseID, agentID }: PromptedCall): KnownCall | undefined {
    return this.#find(nameInSession(toolUseID, agentID));
  }

  /** Returns the running call whose key has this ending, because not all sources report the full location. */
  #find(ending: string): KnownCall | undefined {
    for (const [key, call] of this.#calls) if (call.admitted && key.endsWith(` ${ending}`)) return call;
    return undefined;
  }

  #forget(key: string, call: KnownCall): void {
    this.#calls.delete(key);
    this.#close(call);
  }

  /** Removes a call from the running ones and returns it. */
  #close(call: KnownCall): BegunCall | undefined {
    const begun = call.admitted?.begun;
    call.admitted = undefined;
    if (this.#open.delete(call) && this.#open.size === 0) {
      this.signal?.removeEventListener('abort', this.#abort);
    }
    return begun;
  }

  readonly #abort = (): void => {
    void this.#endAll([...this.#open]);
  };

  async #endAll(calls: readonly KnownCall[]): Promise<void> {
    await Promise.all(calls.map((call) => this.#close(call)?.end(aborted)));
  }
}

/** Returns the key of a call. Some models restart the numbering in each conversation, and subagents have their own. */
function name(toolUseId: string, { session_id, agent_id }: CallPlace): string {
  return `${session_id} ${nameInSession(toolUseId, agent_id)}`;
}

function nameInSession(toolUseId: string, agentId = ''): string {
  return `${agentId} ${toolUseId}`;
}

/** Outcome of an allowed call that the user's permissions or another hook then denied. */
export const refused = failure('The call was denied.', responseStatuses.denied);

/** Outcome of an allowed call that was replaced by one with another input. */
export const replaced = { ok: false, error: Symbol('replaced') } as const satisfies ToolOutcome;

/** Outcome of a call whose run ended first. */
const aborted = {
  ok: false,
  error: abandonedCall('The run ended before the call.'),
} as const satisfies ToolOutcome;

/** Derives the outcome of a failed tool from Claude Code's text, which begins with the code of an MCP error. */
export function failed(text: string, isInterrupt = false): ToolOutcome {
  return isInterrupt ? aborted : { ok: false, error: new Error(text) };
}

/** Derives the outcome of a call without a hook: an unknown tool, or invalid arguments. */
export function unhooked(response: unknown): ToolOutcome {
  if (typeof response !== 'string' || !response.startsWith('<tool_use_error>')) {
    return { ok: true, result: response };
  }
  const isUnknown = response.includes('No such tool available');
  return failure(response, isUnknown ? responseStatuses.unknownTool : responseStatuses.invalidArguments);
}

function failure(message: string, status: number): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
