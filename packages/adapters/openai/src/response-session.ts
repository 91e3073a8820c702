import { conversationSession, currentSessionId, SessionsById } from '@actlog/recorder/adapter';
import type { ResponsesAnswer } from './asked-call.ts';

/** The sessions of responses: one that goes on from another is asked for with what is new alone. */
const sessions = new SessionsById('@actlog/openai/response-sessions');

/**
 * The session of a response: that of the service's conversation; else the surrounding one; else that of the response
 * which it goes on from; else that of the messages, and for a text in their place the response's own id.
 */
export function responseSession(
  { id, previous_response_id: previous, conversation }: ResponsesAnswer,
  messages: unknown,
): string | undefined {
  const own = typeof messages === 'string' ? id : conversationSession(messages);
  const sessionId = conversation?.id || (currentSessionId() ?? sessions.get(previous) ?? own);
  sessions.note(id, sessionId);
  return sessionId;
}
