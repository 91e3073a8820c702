import { type AdapterCalls, noteTexts, toolContent } from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { isCommand } from '@langchain/langgraph';
import { coercedMessages, outerInput } from './graph-runs.ts';

/** The used part of a message. */
interface AnyMessage {
  readonly type?: unknown;
  readonly content?: unknown;
  readonly additional_kwargs?: { readonly lc_source?: unknown } | undefined;
}

/**
 * Passes what the user and the developer wrote in messages of LangChain, for the origins of arguments.
 *
 * @param read - returns the messages, and the session of the calls
 */
export function noteMessages(
  calls: AdapterCalls,
  read: () => { readonly messages: unknown; readonly sessionId: string | undefined },
): void {
  noteTexts(calls, () => {
    const { messages, sessionId } = read();
    // The input of a graph in a node of another may be a model's.
    const input = outerInput();
    const user = input ? inputContents(input) : contentsOf(messages, 'human');
    return { sessionId, user, system: contentsOf(messages, 'system') };
  });
}

/** Returns the contents of messages of a type. A summary, which middleware adds as a message of the user, is not one. */
export function contentsOf(messages: unknown, type: 'human' | 'system'): unknown[] {
  if (!Array.isArray(messages)) return [];
  return (messages as readonly (AnyMessage | null | undefined)[])
    .filter((message) => message?.type === type && message.additional_kwargs?.lc_source === undefined)
    .map((message) => message?.content);
}

/** Returns what the user wrote in the input of a run: its messages, in any form, or its text. */
export function inputContents(input: unknown): unknown[] {
  if (typeof input === 'string') return [input];
  const { messages, input: text } = (input ?? {}) as { messages?: unknown; input?: unknown };
  if (messages === undefined) return typeof text === 'string' ? [text] : [];
  return contentsOf(coercedMessages(messages), 'human');
}

/** Returns what the model sees of a tool's result: the content of its message. */
export function shownResult(result: unknown): unknown {
  const message = isCommand(result) ? lastMessage(result) : result;
  return toolContent(ToolMessage.isInstance(message) ? message.content : message);
}

/** Returns the result message that a tool adds to the graph's state itself. */
function lastMessage({ update }: { readonly update?: unknown }): unknown {
  const { messages } = (update ?? {}) as { messages?: unknown };
  return [messages].flat().findLast((message) => ToolMessage.isInstance(message));
}
