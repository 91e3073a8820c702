import { createEventId } from '../event-id.ts';
import { processWidePerOwner } from '../process-wide.ts';
import { currentSessionId } from '../session.ts';

/** The id of the conversation that a message is the first of. */
const conversationId = processWidePerOwner('@actlog/recorder/conversations', () => createEventId(Date.now()));

/**
 * The session of a conversation in a framework that has no id for it: that of the surrounding `session.run`, else an
 * id of its own for as long as the conversation lives in memory.
 *
 * @param messages - the conversation so far. It is known by the first message that is no instruction to the model,
 * which stays the same object while messages are added behind it.
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
