import { processWide } from '@actlog/recorder/adapter';

/** Messages that are remembered at most. */
const maxMessages = 10_000;

/** The sessions of messages, by their ids, that a thread may be continued from: it is sent only what is new then. */
const sessions = processWide('@actlog/anthropic/threads', () => new Map<string, string>());

/** Remembers the session of a message of a thread. */
export function noteThreadMessage(messageId: string | undefined, sessionId: string | undefined): void {
  if (messageId === undefined || sessionId === undefined) return;
  sessions().set(messageId, sessionId);
  if (sessions().size > maxMessages) sessions().delete(sessions().keys().next().value as string);
}

/** The session of a thread that is continued from this message. */
export function threadSession(previousMessageId: string | undefined): string | undefined {
  return previousMessageId === undefined ? undefined : sessions().get(previousMessageId);
}
