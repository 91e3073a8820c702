/**
 * Creates an id for an event or an idempotency key: a random UUID (RFC 9562, version 4).
 *
 * `client.events.create` creates one itself when `eventId` is omitted. Create one beforehand to store an event before
 * it is sent.
 *
 * @example
 * ```ts
 * const eventId = createEventId();
 * ```
 */
export function createEventId(): string {
  return crypto.randomUUID?.() ?? insecureContextUUID();
}

/** Creates the same on a page served over plain HTTP, where browsers have random bytes but no `randomUUID`. */
function insecureContextUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}
