import { processWide } from '../../lib/process-wide.ts';

/** Sessions of messages that frameworks returned; undefined for one that was returned in several sessions. */
const sessions = processWide(
  '@actlog/recorder/returned-messages',
  () => new WeakMap<object, string | undefined>(),
);

/**
 * Notes the session of the messages that a framework returned for later turns.
 *
 * @param given - messages that the application passed, which do not count: it may pass them in several conversations
 */
export function noteReturned(given: unknown, returned: readonly unknown[], sessionId: string): void {
  const known: ReadonlySet<unknown> = new Set(Array.isArray(given) ? given : []);
  for (const message of returned) {
    if (typeof message !== 'object' || message === null || known.has(message)) continue;
    const isOfAnother = sessions().has(message) && sessions().get(message) !== sessionId;
    sessions().set(message, isOfAnother ? undefined : sessionId);
  }
}

/** Returns the session of the last message that a framework returned, while it is the same object. */
export function sessionOfReturned(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast((message) => sessions().has(message as object));
  return last === undefined ? undefined : sessions().get(last as object);
}
