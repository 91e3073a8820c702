/**
 * Makes an id for an event or an idempotency key: a random UUID (RFC 9562, version 4).
 *
 * `client.events.create` does this by itself when `eventId` is left out; make one beforehand to store an event before
 * it is sent.
 */
export function mintEventId(): string {
  return crypto.randomUUID();
}
