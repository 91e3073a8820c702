import type { ToolOutcome } from '@actlog/recorder';
import { processWide } from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { ToolInvocationError } from 'langchain';
import { isWithinCall } from './recorded-calls.ts';

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

/** What an answer tells of, by the answers: another hook of this adapter further out is told nothing else. */
const causes = processWide('@actlog/langchain/causes', () => new WeakMap<object, unknown>());

/**
 * The answer that tells the model why its tool call gave no result.
 *
 * @param cause - what the tool or its guard threw
 */
export function errorMessage(call: CalledTool, content: string, cause: unknown): ToolMessage {
  const message = new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
  // The answer lives as long as the conversation; the error only where a hook further out is to ask for it.
  if (isWithinCall(call.id)) causes().set(message, cause);
  return message;
}

/** How a call ended, also where a hook of this adapter further in has made an answer of what was thrown. */
export function behindMessage(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok || !ToolMessage.isInstance(outcome.result)) return outcome;
  const answer = outcome.result;
  return causes().has(answer) ? { ok: false, error: causes().get(answer) } : outcome;
}

/**
 * The answer that LangChain itself gives the model when a tool throws and no middleware is there. A middleware
 * that lets the error pass would end the whole run instead, so the adapter answers in LangChain's words.
 */
export function thrownMessage(call: CalledTool, error: unknown): ToolMessage {
  const content =
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`;
  return errorMessage(call, content, error);
}
