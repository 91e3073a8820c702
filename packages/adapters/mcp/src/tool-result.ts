import type { ActionDeniedError } from '@actlog/recorder';

/** The parts of a tool result that say how the call went (Model Context Protocol, "Error Handling"). */
interface ToolResult {
  readonly isError?: unknown;
  readonly content?: unknown;
  readonly resultType?: unknown;
  readonly task?: { readonly taskId?: unknown } | null;
}

function asToolResult(result: unknown): ToolResult {
  return typeof result === 'object' && result !== null ? result : {};
}

/** What the model is told instead of a result. */
export function deniedResult(error: ActionDeniedError) {
  return { isError: true, content: [{ type: 'text', text: error.message }] };
}

/** Whether the tool answers that it failed. */
export function isErrorResult(result: unknown): boolean {
  return asToolResult(result).isError === true;
}

/** The text of a result that is one text. */
export function textOf(result: unknown): string | undefined {
  const { content } = asToolResult(result);
  const [first]: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
  return first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined;
}

/** Whether the server needs more from the user before it can end the call (revision 2026-07-28). */
export function isInputRequired(result: unknown): boolean {
  return asToolResult(result).resultType === 'input_required';
}

/** Whether the call goes on behind this answer, as a task (revision 2025-11-25). */
export function isCreatedTask(result: unknown): boolean {
  return typeof asToolResult(result).task?.taskId === 'string';
}
