import type { ToolOutcome } from '@actlog/recorder';
import type { BegunCall, HookedCall } from '@actlog/recorder/adapter';
import { aborted, refused, replaced } from './tool-outcome.ts';

/** Calls to remember, at most, of runs whose end nobody tells. */
const maxCalls = 10_000;

/** Where a call is made: Claude Code tells this with every hook. */
export interface CallPlace {
  readonly session_id: string;
  /** Of the subagent that makes the call; undefined for the main thread. */
  readonly agent_id?: string;
}

/** A call as a permission prompt tells it, without its session. */
export interface PromptedCall {
  readonly toolUseID: string;
  /** Of the subagent that makes the call; undefined for the main thread. */
  readonly agentID?: string;
}

/** A call that was let through. */
export interface AdmittedCall {
  readonly call: HookedCall;
  readonly begun: BegunCall;
}

interface KnownCall extends CallPlace {
  /** Undefined once the call has ended, and of one that is left out. */
  admitted: AdmittedCall | undefined;
}

/** The calls that hooks have seen begin, until the end of the turn that they were made in. */
export class OpenCalls {
  readonly #calls = new Map<string, KnownCall>();
  /** Those under way. */
  readonly #open = new Set<KnownCall>();
  /** The user's own, which ends all runs that are made with it. */
  readonly signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  /** Notes a call that was let through, or one that needs nothing done: denied, or left out. */
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
    // The signal may be one for many queries, and outlive them: it is listened to only while a call is under way.
    if (this.#open.size === 1) this.signal?.addEventListener('abort', this.#abort);
  }

  /** Ends a call. Returns whether it was known; only its first end counts. */
  async end(toolUseId: string, place: CallPlace, outcome: ToolOutcome): Promise<boolean> {
    const call = this.#calls.get(name(toolUseId, place));
    const begun = call && this.#close(call);
    await begun?.end(outcome);
    return call !== undefined;
  }

  /** Ends a call that was let through, and that the user then refused. */
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

  /** Ends all that is left of a main thread, or of a subagent: it was interrupted, and no hook has told so. */
  async leave({ session_id, agent_id }: CallPlace): Promise<void> {
    const left = [...this.#calls].filter(
      ([, call]) => call.session_id === session_id && call.agent_id === agent_id,
    );
    for (const [key] of left) this.#calls.delete(key);
    await this.#endAll(left.map(([, call]) => call));
  }

  /** Runs a step of a call, where it is known and under way. */
  step<Result>(toolUseId: string, run: () => Result): Result {
    const admitted = this.#find(toolUseId)?.admitted;
    return admitted ? admitted.begun.step(run) : run();
  }

  /** The call that a prompt is about, where it was let through and has not ended. */
  underWay(prompted: PromptedCall): AdmittedCall | undefined {
    return this.#findPrompted(prompted)?.admitted;
  }

  /**
   * Puts another call in the place of one that was let through, which is not recorded then.
   *
   * @throws what `begin` throws; the call is over then
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
      // Its run was ended meanwhile.
      await admitted.begun.end(aborted);
      throw aborted.error;
    }
    known.admitted = admitted;
  }

  #findPrompted({ toolUseID, agentID }: PromptedCall): KnownCall | undefined {
    return this.#find(nameInSession(toolUseID, agentID));
  }

  /** The call under way whose name ends with this: not all that tells of a call tells its place. */
  #find(ending: string): KnownCall | undefined {
    for (const [key, call] of this.#calls) if (call.admitted && key.endsWith(` ${ending}`)) return call;
    return undefined;
  }

  #forget(key: string, call: KnownCall): void {
    this.#calls.delete(key);
    this.#close(call);
  }

  /** Takes a call from those under way, and gives what ends it. */
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

/** Some models number their calls anew in each conversation, and every subagent has one of its own. */
function name(toolUseId: string, { session_id, agent_id }: CallPlace): string {
  return `${session_id} ${nameInSession(toolUseId, agent_id)}`;
}

function nameInSession(toolUseId: string, agentId = ''): string {
  return `${agentId} ${toolUseId}`;
}
