import { createEventId } from '../event-id.ts';
import { currentSessionId } from '../session.ts';

const key = Symbol.for('@actlog/recorder/conversations');

/** One for all copies of this package. */
function conversations(): WeakMap<object, string> {
  const registry = globalThis as { [key]?: WeakMap<object, string> };
  registry[key] ??= new WeakMap();
  return registry[key];
}

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
  if (typeof first !== 'object' || first === null) return undefined;
  const known = conversations().get(first) ?? createEventId(Date.now());
  conversations().set(first, known);
  return known;
}

function isInstruction(message: unknown): boolean {
  const role = (message as { role?: unknown } | null | undefined)?.role;
  return role === 'system' || role === 'developer';
}
