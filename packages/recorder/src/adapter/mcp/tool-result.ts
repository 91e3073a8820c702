import type { ActionDeniedError } from '../../guard/action-denied-error.ts';

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

/** Returns `true` if the tool reports a failure. */
export function isErrorResult(result: unknown): boolean {
  return asToolResult(result).isError === true;
}

/** Returns the text of a result that starts with a text. */
export function textOf(result: unknown): string | undefined {
  const { content } = asToolResult(result);
  const [first]: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
  return first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined;
}

/** Returns `true` if the server needs user input before it can end the call (revision 2026-07-28). */
export function isInputRequired(result: unknown): boolean {
  return asToolResult(result).resultType === 'input_required';
}
