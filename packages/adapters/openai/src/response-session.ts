import { type Conversations, currentSessionId, SessionsById } from '@actlog/recorder/adapter';
import type { ResponsesOutput } from './model-output.ts';

/** Sessions of responses, because a continuing request contains only new messages. */
const sessions = new SessionsById('@actlog/openai/response-sessions');

/**
 * Returns the session of a response. In order of precedence: the service's conversation; the surrounding session; that
 * of the response that it continues from; that of the messages or, for a text instead of messages, the response's own
 * id.
 */
export function responseSession(
  { id, previous_response_id: previous, conversation }: ResponsesOutput,
  messages: unknown,
  conversations: Conversations,
): string | undefined {
  const own = typeof messages === 'string' ? id : conversations.sessionOf(messages);
  const sessionId = conversation?.id || (currentSessionId() ?? sessions.get(previous) ?? own);
  sessions.note(id, sessionId);
  return sessionId;
}
