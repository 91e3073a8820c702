import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, currentSessionId, processWide } from '@actlog/recorder/adapter';
import type { Chat, Content } from '@google/genai';

/** Session of a chat, known from its first request on. */
interface ChatSession {
  sessionId: string | undefined;
}

const chatSessions = processWide(
  '@actlog/google-genai/chat-sessions',
  () => new AsyncLocalStorage<ChatSession>(),
);

/** Gives a chat a session of its own, because the SDK copies its history for each request. */
export function recordChat(chat: Chat): Chat {
  const session: ChatSession = { sessionId: undefined };
  const { sendMessage, sendMessageStream } = chat;
  chat.sendMessage = (params) => chatSessions().run(session, () => sendMessage.call(chat, params));
  chat.sendMessageStream = (params) =>
    chatSessions().run(session, () => sendMessageStream.call(chat, params));
  return chat;
}

/** Returns the session of a request: that of the surrounding `session.run`, of its chat, or of its conversation. */
export function sessionOf(calls: AdapterCalls, messages: readonly Content[]): string | undefined {
  const chat = chatSessions().getStore();
  const surrounding = currentSessionId();
  if (!chat || surrounding !== undefined) return surrounding ?? calls.conversations.sessionOf(messages);
  chat.sessionId ??= calls.conversations.sessionOf(messages);
  return chat.sessionId;
}
