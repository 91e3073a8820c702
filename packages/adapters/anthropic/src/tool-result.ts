import { ActionDeniedError, responseStatuses } from '@actlog/recorder';

/** The answer to a call: a `tool_result` block. */
export interface ToolResult<Content> {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: Content | string;
  readonly is_error?: boolean;
}

/** A call of a tool that is not there, in the words of the SDK's tool runner. */
export class ToolNotFoundError extends Error {
  override readonly name = 'ToolNotFoundError';
  readonly status = responseStatuses.unknownTool;

  constructor(toolName: string) {
    super(`Tool '${toolName}' not found`);
  }
}

/**
 * Runs a call and answers it as the SDK's tool runner does: what it throws is told to the model.
 *
 * @throws what `run` throws once `signal` has aborted: there is nobody to tell
 */
export async function resultOf<Content>(
  { id, toolset_name }: { readonly id: string; readonly toolset_name?: string | null },
  signal: AbortSignal | undefined,
  run: () => Promise<Content>,
): Promise<ToolResult<Content>> {
  // A toolset's results name it, or the API refuses them.
  const result = { type: 'tool_result' as const, tool_use_id: id, ...(toolset_name && { toolset_name }) };
  try {
    return { ...result, content: await run() };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ...result, content: toldOf<Content>(error), is_error: true };
  }
}

function toldOf<Content>(error: unknown): Content | string {
  if (ActionDeniedError.isInstance(error)) return error.message;
  // A ToolError of the SDK, from whichever copy of it.
  const { name, content } = (error ?? {}) as { name?: unknown; content?: Content };
  if (name === 'ToolError' && content !== undefined) return content;
  return `Error: ${error instanceof Error ? error.message : String(error)}`;
}
