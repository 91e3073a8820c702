import { stringifyExactJson } from '@actlog/tool-call';

/** Method of the request that calls a tool (Model Context Protocol, "Calling Tools"). */
export const callMethod = 'tools/call';

/** Parameters of a tool call. */
export interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  /** Requests a task that continues after the response (revision 2025-11-25). */
  readonly task?: unknown;
  /** User input requested by the server, in a continued call (revision 2026-07-28). */
  readonly inputResponses?: unknown;
  /** State that the server asked to receive again, in a continued call (revision 2026-07-28). */
  readonly requestState?: unknown;
}

/** Returns `true` for parameters of a tool call; the SDK rejects others. */
export function isCallParams(params: unknown): params is CallParams {
  return (
    typeof params === 'object' && params !== null && typeof (params as { name?: unknown }).name === 'string'
  );
}

/** Returns the arguments of a call; missing arguments count as none. */
export function argumentsOf(params: CallParams): unknown {
  return params.arguments ?? {};
}

/** Returns a text that identifies a tool and its arguments; undefined if they are not JSON-serializable. */
export function callText(params: CallParams): string | undefined {
  try {
    return stringifyExactJson([params.name, argumentsOf(params)]);
  } catch {
    return undefined; // only possible with a transport inside the process
  }
}

/** Returns `true` if both call the same tool with the same arguments, as far as that can be determined. */
export function isSameCall(one: CallParams, other: CallParams): boolean {
  if (one === other) return true;
  const text = callText(one);
  return text !== undefined && text === callText(other);
}
