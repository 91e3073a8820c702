import type { ToolOutcome } from '@actlog/recorder';
import { processWide } from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { ToolInvocationError } from 'langchain';
import { isWithinCall } from './recorded-calls.ts';

/** Properties of a tool call that its result message needs. */
export interface CalledTool {
  readonly id?: string | undefined;
  readonly name: string;
}

/** A tool call from the model, which a ToolNode passes to the tool unchanged. */
export interface ModelCall {
  readonly type: 'tool_call';
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** Returns `true` if a tool is invoked with a call of the model rather than with arguments only. */
export function isModelCall(input: unknown): input is ModelCall {
  return typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'tool_call';
}

/** Errors behind messages, for an outer hook of this adapter, which only sees the message. */
const causes = processWide('@actlog/langchain/causes', () => new WeakMap<object, unknown>());

/**
 * Creates the message that tells the model why its tool call has no result.
 *
 * @param cause - error thrown by the tool or its guard
 */
export function errorMessage(call: CalledTool, content: string, cause: unknown): ToolMessage {
  const message = new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
  // The message lives as long as the conversation, so keep the error only if an outer hook needs it.
  if (isWithinCall(call.id)) causes().set(message, cause);
  return message;
}

/** Returns the outcome of a call, even if an inner hook of this adapter has converted an error to a message. */
export function behindMessage(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok || !ToolMessage.isInstance(outcome.result)) return outcome;
  const message = outcome.result;
  return causes().has(message) ? { ok: false, error: causes().get(message) } : outcome;
}

/**
 * Creates the message with which LangChain itself reports a tool's error when there is no middleware. Passing the error
 * on from a middleware would end the whole run, so the adapter uses LangChain's text.
 */
export function thrownMessage(call: CalledTool, error: unknown): ToolMessage {
  const content =
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`;
  return errorMessage(call, content, error);
}
