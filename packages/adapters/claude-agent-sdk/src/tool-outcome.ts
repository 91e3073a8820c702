import { responseStatuses, type ToolOutcome } from '@actlog/recorder';

/** Outcome of an allowed call that the user's permissions or another hook then denied. */
export const refused = failure('The call was denied.', responseStatuses.denied);

/** Outcome of an allowed call that was replaced by one with another input. */
export const replaced = { ok: false, error: Symbol('replaced') } as const satisfies ToolOutcome;

/** Outcome of a call whose run ended first. */
export const aborted = {
  ok: false,
  error: new DOMException('The run ended before the call.', 'AbortError'),
} as const satisfies ToolOutcome;

/** Texts of the MCP SDK for a tool that violates a schema itself, although the code is that of invalid arguments. */
const invalidResult = /output schema|structured content|invalid tools\/call result/i;

/** Derives the outcome of a failed tool from Claude Code's text. */
export function failed(text: string, isInterrupt = false): ToolOutcome {
  if (isInterrupt) return aborted;
  const [, code] = /^MCP error (-\d+):/.exec(text) ?? [];
  return code === undefined || invalidResult.test(text)
    ? { ok: false, error: new Error(text) }
    : { ok: false, error: Object.assign(new Error(text), { code: Number(code) }) };
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
