import { responseStatuses, type ToolOutcome, taskStatus } from '@actlog/tool-call';
import type { ApprovedChange } from '../../events/tool-call.ts';
import type { ActionDeniedError } from '../../guard/action-denied-error.ts';
import { processWide } from '../../lib/process-wide.ts';
import type { HookedCall } from '../hooked-calls.ts';

const unreachable = 503;
/** Error code for "the user must open a URL first" (Model Context Protocol, revision 2025-11-25). */
const urlElicitationRequired = -32042;

/** Error codes of the v2 SDK. */
const sdkCodes: Readonly<Record<string, number>> = {
  REQUEST_TIMEOUT: responseStatuses.timedOut,
  CONNECTION_CLOSED: unreachable,
  NOT_CONNECTED: unreachable,
};

// A client's adapter and a server's may use different copies of the recorder.
const fromClients = processWide('@actlog/mcp/errors-of-clients', () => new WeakSet<object>());
const givenUp = processWide('@actlog/mcp/given-up', () => new WeakSet<object>());
const recorded = processWide('@actlog/mcp/recorded-statuses', () => new WeakMap<object, number>());

/** Remembers the status that the server recorded for a result, because it knows more than the client. */
export function noteRecordedStatus(result: unknown, status: number): void {
  if (typeof result === 'object' && result !== null) recorded().set(result, status);
}

/** Returns `true` if the user must open a URL before the caller repeats the call. */
export function isUrlRequired(error: unknown): error is object {
  return (error as { code?: unknown } | null | undefined)?.code === urlElicitationRequired;
}

/**
 * Throws an error and remembers that the caller did not repeat the call that ended in it.
 *
 * @throws the given error
 */
export function throwAsGivenUp(error: object): never {
  givenUp().add(error);
  throw error;
}

/**
 * Throws an error and remembers that it came from a client, not a tool.
 *
 * @throws the given error
 */
export function throwFromClient(error: unknown): never {
  if (typeof error === 'object' && error !== null) fromClients().add(error);
  throw error;
}

/**
 * Returns the status of a call from its outcome in MCP: `null` if it requests user input and will be repeated,
 * `undefined` to use the recorder's table.
 */
export function toolOutcomeStatus(
  outcome: ToolOutcome,
  { toolName, signal }: HookedCall,
): number | null | undefined {
  if (outcome.ok) return statusOfResult(outcome.result, toolName);
  // An abort has the code of a timeout; the recorder's table recognizes it by the signal.
  return signal?.aborted ? undefined : statusOfError(outcome.error, toolName);
}

function statusOfResult(result: unknown, toolName: string): number | null | undefined {
  const ofServer = typeof result === 'object' && result !== null ? recorded().get(result) : undefined;
  if (ofServer !== undefined) return ofServer;
  const ofTask = taskStatus(result);
  if (ofTask !== undefined) return ofTask;
  if (isInputRequired(result)) return null;
  return isErrorResult(result) ? statusOfRefusal(textOf(result) ?? '', toolName) : undefined;
}

function statusOfError(error: unknown, toolName: string): number | null | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : '';
  if (code === urlElicitationRequired) return givenUp().has(error) ? responseStatuses.aborted : null;
  if (/(Connection closed|Not connected)$/.test(text)) return unreachable;
  if (typeof code === 'string') return sdkCodes[code];
  // Errors of the v1 transports have the HTTP status as their code, or in their message.
  if (/^(Streamable HTTP|SSE) error: /.test(text) && Number(code) >= 400) return Number(code);
  const httpStatus = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(text)?.[1];
  if (httpStatus) return Number(httpStatus);
  // The v1 client throws Zod's error for an invalid result.
  if (fromClients().has(error) && /ZodError$/.test(String(name))) return responseStatuses.threw;
  if (code !== -32602) return undefined;
  return /output schema|structured content|invalid tools\/call result/i.test(text)
    ? responseStatuses.threw // the server violated a schema: the arguments are valid
    : statusOfRefusal(text, toolName);
}

/** Derives the status of a rejected call from the SDKs' text, because they use no codes. */
function statusOfRefusal(text: string, toolName: string): number | undefined {
  const words = text.replace(/^(MCP error -32602: )+/, ''); // each side adds this prefix
  if (words.startsWith(`Tool ${toolName} not found`)) return responseStatuses.unknownTool;
  if (words.startsWith(`Tool ${toolName} disabled`)) return responseStatuses.unknownTool;
  if (words.startsWith(`Unknown tool: ${toolName}`)) return responseStatuses.unknownTool; // the Python SDK
  if (words.startsWith(`Tool '${toolName}' parameter validation failed:`)) {
    return responseStatuses.invalidArguments; // fastmcp
  }
  const invalid = words.replace(/^Input validation error: /, '');
  return invalid.startsWith(`Invalid arguments for tool ${toolName}:`)
    ? responseStatuses.invalidArguments
    : undefined;
}

/** Properties of a tool result that indicate success (Model Context Protocol, "Error Handling"). */
interface ToolResult {
  readonly isError?: unknown;
  readonly content?: unknown;
  readonly resultType?: unknown;
}

function asToolResult(result: unknown): ToolResult {
  return typeof result === 'object' && result !== null ? result : {};
}

/** Creates the result for the model when a call is denied. */
export function deniedResult(error: ActionDeniedError) {
  return { isError: true, content: [{ type: 'text', text: error.message }] };
}

/** Returns a result with the sentence for the model about an approver's change; the given one if it has no content. */
export function withChangeNotice<Result>(result: Result, { notice }: ApprovedChange): Result {
  const { content } = asToolResult(result);
  if (!Array.isArray(content)) return result;
  return { ...result, content: [...(content as unknown[]), { type: 'text', text: notice }] };
}

/** Returns `true` if the tool reports a failure. */
export function isErrorResult(result: unknown): boolean {
  return asToolResult(result).isError === true;
}

/** Returns the text of a result whose first block is text. */
function textOf(result: unknown): string | undefined {
  const { content } = asToolResult(result);
  const [first]: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
  return first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined;
}

/** Returns `true` if the server needs user input before it can end the call (revision 2026-07-28). */
export function isInputRequired(result: unknown): boolean {
  return asToolResult(result).resultType === 'input_required';
}
