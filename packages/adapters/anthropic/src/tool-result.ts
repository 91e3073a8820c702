import { ActionDeniedError, responseStatuses } from '@actlog/recorder';

/** Result of a call: a `tool_result` block. */
export interface ToolResult<Content> {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: Content | string;
  readonly is_error?: boolean;
}

/** Error thrown for a call of an unknown tool, with the text of the SDK's tool runner. */
export class ToolNotFoundError extends Error {
  override readonly name = 'ToolNotFoundError';
  readonly status = responseStatuses.unknownTool;

  constructor(toolName: string) {
    super(`Tool '${toolName}' not found`);
  }
}

/**
 * Runs a call and returns its result like the SDK's tool runner: errors become results for the model.
 *
 * @throws the error of `run` if `signal` has aborted, because there is no further request
 */
export async function resultOf<Content>(
  { id, toolset_name }: { readonly id: string; readonly toolset_name?: string | null },
  signal: AbortSignal | undefined,
  run: () => Promise<Content>,
): Promise<ToolResult<Content>> {
  // The API requires results of a toolset to name it.
  const result = { type: 'tool_result' as const, tool_use_id: id, ...(toolset_name && { toolset_name }) };
  try {
    return { ...result, content: await run() };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ...result, content: contentOf<Content>(error), is_error: true };
  }
}

function contentOf<Content>(error: unknown): Content | string {
  if (ActionDeniedError.isInstance(error)) return error.message;
  // A ToolError of any copy of the SDK.
  const { name, content } = (error ?? {}) as { name?: unknown; content?: Content };
  if (name === 'ToolError' && content !== undefined) return content;
  return `Error: ${error instanceof Error ? error.message : String(error)}`;
}
