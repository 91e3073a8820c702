import { ToolMessage } from '@langchain/core/messages';
import { ToolInvocationError } from 'langchain';

/** The parts of a tool call that an answer to it needs. */
export interface CalledTool {
  readonly id?: string | undefined;
  readonly name: string;
}

/** A tool call as the model made it, which a ToolNode passes to the tool whole. */
export interface ModelCall {
  readonly type: 'tool_call';
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** Whether a tool is invoked with a call of the model, or with arguments alone. */
export function isModelCall(input: unknown): input is ModelCall {
  return typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'tool_call';
}

/** The answer that tells the model why its tool call gave no result. */
export function errorMessage(call: CalledTool, content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
}

/**
 * The answer that LangChain itself gives the model when a tool throws and no middleware is there. A middleware
 * that lets the error pass would end the whole run instead, so the adapter answers in LangChain's words.
 */
export function thrownMessage(call: CalledTool, error: unknown): ToolMessage {
  return errorMessage(
    call,
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`,
  );
}
