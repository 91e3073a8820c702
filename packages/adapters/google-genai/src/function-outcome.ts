import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type HookedCall, mcpErrorStatus, toolContent } from '@actlog/recorder/adapter';
import type { Part } from '@google/genai';

/** Content of a function response. Without `output` and `error`, the model sees the whole object. */
type Response = Readonly<Record<string, unknown>>;

/** Calls of functions that no tool of their request declares. */
const unknownCalls = new WeakSet<HookedCall>();

/** Notes that no tool of the request declares the function of a call. */
export function noteUnknown(call: HookedCall): void {
  unknownCalls.add(call);
}

/** Returns the outcome of a call: that of a tool which returns a response with an `error` is a failure. */
export function outcomeOfResponse(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok) return outcome;
  const failed = responsesOf(outcome.result).find(({ error }) => error !== undefined && error !== null);
  return failed ? { ok: false, error: failed.error } : outcome;
}

/** Returns the status of a call of an unknown function, or that of an MCP server's error. */
export function statusOfFunction(outcome: ToolOutcome, call: HookedCall): number | undefined {
  if (call.signal?.aborted) return undefined;
  if (unknownCalls.has(call) && !hasResponse(outcome)) return responseStatuses.unknownTool;
  if (outcome.ok) return undefined;
  const [text] = [toolContent(outcome.error)].flat();
  return typeof text === 'string' ? mcpErrorStatus(text, undefined, call.toolName) : undefined;
}

/** Returns what the model sees of the parts that a tool returned. */
export function shownResponse(result: unknown): unknown {
  const shown = responsesOf(result).map((response) => {
    const names = Object.keys(response);
    const [name = ''] = names;
    const isWrapped = names.length === 1 && ['output', 'result', 'error'].includes(name);
    return toolContent(isWrapped ? response[name] : response);
  });
  return shown.length === 1 ? shown[0] : shown;
}

function hasResponse(outcome: ToolOutcome): boolean {
  return outcome.ok && responsesOf(outcome.result).length > 0;
}

function responsesOf(result: unknown): Response[] {
  const parts = (Array.isArray(result) ? result : []) as readonly Part[];
  return parts.flatMap((part) => {
    const response = part?.functionResponse?.response;
    return response ? [response] : [];
  });
}
