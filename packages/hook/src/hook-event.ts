import type { HookCall, HookThread } from './calls/hook-call.ts';

/** A call and the status of its outcome. */
export interface EndedCall {
  readonly call: HookCall;
  /** HTTP status (`@actlog/recorder`, "responseStatus"). */
  readonly status: number;
}

/** An event of a hook, in the words that all agents share. */
export type HookEvent =
  /** A tool is about to run. */
  | { readonly kind: 'before'; readonly call: HookCall }
  /** A tool has ended. */
  | ({ readonly kind: 'after' } & EndedCall)
  /**
   * All calls of a turn have ended. Calls that are still open were denied by the agent's own permissions, or by another
   * hook; the status counts for calls that no hook has reported.
   */
  | { readonly kind: 'turn'; readonly calls: readonly EndedCall[] }
  /** A new prompt, or the end of a subagent: calls of the thread that are still open were interrupted. */
  | { readonly kind: 'idle'; readonly thread: HookThread }
  | { readonly kind: 'session-start' }
  /** The session has ended, and its open calls with it. */
  | { readonly kind: 'session-end'; readonly sessionId: string }
  /** An event that is of no interest. */
  | { readonly kind: 'other' };
