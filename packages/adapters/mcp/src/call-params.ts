/** The method of the request that calls a tool (Model Context Protocol, "Calling Tools"). */
export const callMethod = 'tools/call';

/** The parameters of a tool call. */
export interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  /** Asks for a task that runs on behind the answer (revision 2025-11-25). */
  readonly task?: unknown;
  /** What the server had asked for, in a call that goes on (revision 2026-07-28). */
  readonly inputResponses?: unknown;
  /** What the server had asked to be told again, in a call that goes on (revision 2026-07-28). */
  readonly requestState?: unknown;
}

/** Whether these are the parameters of a tool call; the SDK refuses what else comes. */
export function isCallParams(params: unknown): params is CallParams {
  return (
    typeof params === 'object' && params !== null && typeof (params as { name?: unknown }).name === 'string'
  );
}

/** What the tool is called with: without arguments is with none. */
export function argumentsOf(params: CallParams): unknown {
  return params.arguments ?? {};
}
