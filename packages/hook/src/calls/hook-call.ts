/** Run within a session: its main thread, or one of its subagents. */
export interface HookThread {
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The agent's id of the subagent; empty for the main thread. */
  readonly subagentId: string;
  /** Type of the subagent, a word of the agent or the workspace; undefined for the main thread. */
  readonly subagent?: string | undefined;
}

/** A tool call, as reported by a hook of any agent. */
export interface HookCall extends HookThread {
  /** The agent's id of the call; undefined if the agent has none, so that the call is recognized by its arguments. */
  readonly callId: string | undefined;
  /** Name of the tool, as the model sees it. */
  readonly toolName: string;
  readonly arguments: unknown;
}
