import { responseStatuses, type ToolOutcome } from '@actlog/recorder';

/** A call that was let through, and that the user's permissions, or another hook, then refused. */
export const refused = failure('The call was refused.', responseStatuses.denied);

/** A call that was let through, and in whose place comes one with another input. */
export const replaced = { ok: false, error: Symbol('replaced') } as const satisfies ToolOutcome;

/** A call whose run was ended before it did. */
export const aborted = {
  ok: false,
  error: new DOMException('The run was ended before the call was.', 'AbortError'),
} as const satisfies ToolOutcome;

/** The words of the MCP SDK for a tool that breaks a schema itself, though its code is that of invalid arguments. */
const invalidResult = /output schema|structured content|invalid tools\/call result/i;

/** How a tool failed, by the words that Claude Code has for it. */
export function failed(text: string, isInterrupt = false): ToolOutcome {
  if (isInterrupt) return aborted;
  const [, code] = /^MCP error (-\d+):/.exec(text) ?? [];
  return code === undefined || invalidResult.test(text)
    ? { ok: false, error: new Error(text) }
    : { ok: false, error: Object.assign(new Error(text), { code: Number(code) }) };
}

/** What became of a call that no hook saw begin: there was no such tool, or it did not take the call. */
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
