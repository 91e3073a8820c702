import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';
import { isInGraph } from './graph-runs.ts';
import { sessionOf } from './run-context.ts';

/** Sessions of calls that a model has requested outside of a graph, by their arguments. */
const sessions = processWide('@actlog/langchain/requested-calls', () => new WeakMap<object, string>());

/** A message of a model. */
interface RequestingMessage {
  readonly tool_calls?: readonly { readonly name: string; readonly id?: string; readonly args: unknown }[];
}

/** Notes the calls in a model's response, whose tools a loop of the application invokes. */
export function noteRequestedCalls(calls: AdapterCalls, messages: unknown, response: unknown): void {
  const { tool_calls: requested } = (response ?? {}) as RequestingMessage;
  if (!Array.isArray(requested) || requested.length === 0 || !Array.isArray(messages) || isInGraph()) return;
  const sessionId = sessionOf(undefined) ?? calls.conversations.sessionOf(messages);
  if (sessionId === undefined) return;
  for (const { name: toolName, id: callId, args } of requested) {
    calls.conversations.note(messages, { toolName, callId }, sessionId);
    if (typeof args === 'object' && args !== null) sessions().set(args, sessionId);
  }
}

/** Returns the session of the conversation in which a model has written these arguments. */
export function requestingSession(args: unknown): string | undefined {
  return typeof args === 'object' && args !== null ? sessions().get(args) : undefined;
}
