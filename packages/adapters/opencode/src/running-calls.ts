import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type BegunCall,
  DeniedRun,
  processWidePerOwner,
} from '@actlog/recorder/adapter';
import type { Sessions } from './sessions.ts';

/** A call of opencode. */
interface OpencodeCall {
  readonly sessionID: string;
  readonly callID: string;
}

/** A call that waits for its check, or whose tool runs. */
interface RunningCall {
  readonly sessionID: string;
  readonly controller: AbortController;
  begun?: BegunCall;
}

/** Running calls by their keys, per recorder: a plugin may be loaded twice, for the user and for a project. */
const runningCalls = processWidePerOwner(
  '@actlog/opencode/running-calls',
  () => new Map<string, RunningCall>(),
);

function keyOf({ sessionID, callID }: OpencodeCall): string {
  return JSON.stringify([sessionID, callID]);
}

/** The calls between opencode's hooks before and after a tool. */
export class RunningCalls {
  readonly #calls: AdapterCalls;
  readonly #sessions: Sessions;
  readonly #abortSession: (id: string) => void;
  readonly #running: Map<string, RunningCall>;
  /** Denials since the last prompt of each session. */
  readonly #denied = new Map<string, DeniedRun>();

  /** @param abortSession - ends the run of a session whose model repeats a denied call */
  constructor(calls: AdapterCalls, sessions: Sessions, abortSession: (id: string) => void) {
    this.#calls = calls;
    this.#sessions = sessions;
    this.#abortSession = abortSession;
    this.#running = runningCalls(calls.recorder);
  }

  /** Forgets the denials of a session, because the user has written to it. */
  beginPrompt(sessionID: string): void {
    this.#denied.delete(sessionID);
  }

  /**
   * Begins a call. Waits while it is held.
   *
   * @throws ActionDeniedError when the guard denies it, which is the result of the tool for the model
   */
  async begin(call: OpencodeCall & { readonly tool: string }, args: unknown): Promise<void> {
    const key = keyOf(call);
    if (this.#running.has(key)) return;
    const { sessionID, callID: callId, tool: toolName } = call;
    const running: RunningCall = { sessionID, controller: new AbortController() };
    this.#running.set(key, running);
    try {
      const place = await this.#sessions.placeOf(sessionID);
      const { signal } = running.controller;
      running.begun = await this.#calls.begin({ ...place, toolName, callId, arguments: args, signal });
      this.#denied.get(sessionID)?.letThrough(toolName);
    } catch (error) {
      this.#running.delete(key);
      if (ActionDeniedError.isInstance(error)) this.#deny(sessionID, { toolName, arguments: args }, error);
      throw error;
    }
  }

  /** Ends a call. Only the first end counts. */
  async end(call: OpencodeCall, outcome: ToolOutcome): Promise<void> {
    const key = keyOf(call);
    const begun = this.#running.get(key)?.begun;
    if (!begun) return;
    this.#running.delete(key);
    await begun.end(outcome);
  }

  /** Ends the calls of a session that is aborted, and of the sessions of its subagents. A held one never runs. */
  abort(sessionID: string): void {
    this.#abandon((id) => id === sessionID || this.#sessions.above(id).includes(sessionID));
  }

  /** Ends calls of a session that has ended, without a result. */
  abandon(sessionID: string): void {
    this.#abandon((id) => id === sessionID);
  }

  /** Ends all calls without a result, because opencode ends. */
  abandonAll(): void {
    this.#abandon(() => true);
  }

  #abandon(isOf: (sessionID: string) => boolean): void {
    for (const [key, { sessionID, controller, begun }] of this.#running) {
      if (!isOf(sessionID)) continue;
      const error = abandonedCall('The session was aborted.');
      controller.abort(error);
      if (!begun) continue; // its check rejects
      this.#running.delete(key);
      void begun.end({ ok: false, error });
    }
  }

  /**
   * Counts a denial. If the model repeats itself, the run of the session ends, which is a denial in the session that its
   * subagent works for.
   *
   * @throws the reason, for the user who reads the last result
   */
  #deny(
    sessionID: string,
    call: { readonly toolName: string; readonly arguments: unknown },
    denial: ActionDeniedError,
  ): void {
    let reason: string | undefined;
    for (const id of [sessionID, ...this.#sessions.above(sessionID)]) {
      const run = this.#denied.get(id) ?? new DeniedRun();
      this.#denied.set(id, run);
      if (!run.deny(call, denial)) break;
      reason ??= run.reason;
      this.#abortSession(id);
    }
    if (reason !== undefined) throw new Error(reason, { cause: denial });
  }
}
