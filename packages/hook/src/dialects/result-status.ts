import { mcpErrorStatus, responseStatuses } from '@actlog/recorder/short-lived';

/** Returns the status of a result, which says that the tool failed only in the format of the Model Context Protocol. */
export function resultStatus(result: unknown): number {
  const { isError, content } = (result ?? {}) as { readonly isError?: unknown; readonly content?: unknown };
  if (isError !== true || !Array.isArray(content)) return responseStatuses.ok;
  const [first] = content as readonly ({ readonly text?: unknown } | null | undefined)[];
  return failureStatus(String(first?.text));
}

/** Returns the status of a failed tool from the text of its error. */
export function failureStatus(text: string): number {
  return mcpErrorStatus(text) ?? responseStatuses.threw;
}
