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

/** What tells one call from another: the tool and its arguments; undefined for what is no JSON. */
export function callText(params: CallParams): string | undefined {
  try {
    return JSON.stringify([params.name, argumentsOf(params)]);
  } catch {
    return undefined; // only a transport within the process can carry it
  }
}

/** Whether both call the same tool with the same arguments, as far as that can be known. */
export function isSameCall(one: CallParams, other: CallParams): boolean {
  if (one === other) return true;
  const text = callText(one);
  return text !== undefined && text === callText(other);
}
