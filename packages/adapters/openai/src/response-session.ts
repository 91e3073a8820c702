import { conversationSession, currentSessionId, processWide } from '@actlog/recorder/adapter';
import type { ResponsesAnswer } from './asked-call.ts';

/** Responses that are remembered at most. */
const maxResponses = 10_000;

/** The sessions of responses, by their ids: one that goes on from another is asked for with what is new alone. */
const sessions = processWide('@actlog/openai/response-sessions', () => new Map<string, string>());

/**
 * The session of a response: that of the service's conversation; else the surrounding one; else that of the response
 * which it goes on from; else that of the messages, and for a text in their place the response's own id.
 */
export function responseSession(
  { id, previous_response_id: previous, conversation }: ResponsesAnswer,
  messages: unknown,
): string | undefined {
  const former = previous ? sessions().get(previous) : undefined;
  const own = typeof messages === 'string' ? id : conversationSession(messages);
  const sessionId = conversation?.id || (currentSessionId() ?? former ?? own);
  if (id && sessionId) note(id, sessionId);
  return sessionId;
}

function note(responseId: string, sessionId: string): void {
  sessions().set(responseId, sessionId);
  if (sessions().size > maxResponses) sessions().delete(sessions().keys().next().value as string);
}
