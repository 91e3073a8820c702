import { createEventId } from '../events/event-id.ts';
import { processWidePerOwner } from '../lib/process-wide.ts';
import { currentSessionId } from '../recording/session.ts';

/** Returns the id of the conversation that starts with a message. */
const conversationId = processWidePerOwner('@actlog/recorder/conversations', () => createEventId(Date.now()));

/**
 * Returns the session of a conversation in a framework without conversation ids: that of the surrounding `session.run`,
 * else a new id that lasts as long as the conversation is in memory.
 *
 * @param messages - the conversation so far. It is identified by its first message that is not an instruction, which
 * must stay the same object as messages are added.
 */
export function conversationSession(messages: unknown): string | undefined {
  const surrounding = currentSessionId();
  if (surrounding !== undefined || !Array.isArray(messages)) return surrounding;
  const first: unknown = messages.find((message) => !isInstruction(message));
  return typeof first === 'object' && first !== null ? conversationId(first) : undefined;
}

function isInstruction(message: unknown): boolean {
  const role = (message as { role?: unknown } | null | undefined)?.role;
  return role === 'system' || role === 'developer';
}
