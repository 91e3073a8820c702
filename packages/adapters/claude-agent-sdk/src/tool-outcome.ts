import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { abandonedCall } from '@actlog/recorder/adapter';

/** Outcome of an allowed call that the user's permissions or another hook then denied. */
export const refused = failure('The call was denied.', responseStatuses.denied);

/** Outcome of an allowed call that was replaced by one with another input. */
export const replaced = { ok: false, error: Symbol('replaced') } as const satisfies ToolOutcome;

/** Outcome of a call whose run ended first. */
export const aborted = {
  ok: false,
  error: abandonedCall('The run ended before the call.'),
} as const satisfies ToolOutcome;

/** Derives the outcome of a failed tool from Claude Code's text, which begins with the code of an MCP error. */
export function failed(text: string, isInterrupt = false): ToolOutcome {
  return isInterrupt ? aborted : { ok: false, error: new Error(text) };
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
