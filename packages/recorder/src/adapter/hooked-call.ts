import type { RunningCall } from '../active-call.ts';
import type { Wrapping } from './wrapped-call.ts';

/** A tool call as a framework's hook sees it. */
export interface HookedCall {
  /** Name of the tool, as the model knows it. */
  readonly toolName: string;
  /** What the model asked to call it with, before the framework fills in defaults. */
  readonly arguments: unknown;
  /** The framework's id of the call. Default: none. */
  readonly callId?: string | undefined;
  /** The wrapper that tells of the call, where a tool may be wrapped twice and be called by hand, without an id. */
  readonly wrapping?: Wrapping | undefined;
  /** The framework's thread, session or run. Default: that of the surrounding `session.run`. */
  readonly sessionId?: string | undefined;
  /** The framework's name of the agent. Default: the recorder's. */
  readonly agentId?: string | undefined;
  /** Ends the wait for a person's approval; a call aborted by then never runs. */
  readonly signal?: AbortSignal | undefined;
  /** Names the action where the same call comes again, as after an interrupted run was resumed. */
  readonly actionId?: string | undefined;
  /** Stands for arguments that a hook is not shown; only for calls that have ended. */
  readonly argumentsHash?: string | undefined;
  /** When a call that has ended did so. Default: now. */
  readonly endedAt?: Date | undefined;
  /** The call that was running where this one began; tells hooks that are given no id whether it is the same. */
  readonly startedIn?: RunningCall | undefined;
}
