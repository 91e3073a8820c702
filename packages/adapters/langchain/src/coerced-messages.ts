import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages';

/**
 * Returns the messages in the input of a run as objects of LangChain: new ones, except for those that are objects
 * already.
 *
 * @param messages - messages in any form, or a single one
 * @throws the error of LangChain when they are not messages
 */
export function coercedMessages(messages: unknown): BaseMessage[] {
  if (messages === undefined || messages === null) return [];
  const all: unknown[] = Array.isArray(messages) && !isPair(messages) ? messages : [messages];
  return all.map((message) => coerceMessageLikeToMessage(message as never));
}

/** Returns `true` for a single message of the form `['user', 'text']`. */
function isPair(messages: readonly unknown[]): boolean {
  return messages.length === 2 && messages.every((part) => typeof part === 'string');
}
