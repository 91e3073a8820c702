/**
 * Makes an id for an event or an idempotency key: a random UUID (RFC 9562, version 4).
 *
 * `client.events.create` does this by itself when `eventId` is left out; make one beforehand to store an event before
 * it is sent.
 */
export function mintEventId(): string {
  return crypto.randomUUID?.() ?? insecureContextUUID();
}

/** The same where a page comes over plain HTTP, for which browsers have random bytes and no `randomUUID`. */
function insecureContextUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}
