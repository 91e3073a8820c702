const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a UUID in lower case; undefined for any other string. */
export function uuidBytes(eventId: string): Uint8Array | undefined {
  if (!UUID.test(eventId)) return undefined;
  const digits = eventId.replaceAll('-', '');
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 16; index++)
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

/** The UUID, in lower case, of 16 bytes. */
export function uuidOf(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [8, 12, 16, 20, 32].map((end, at, ends) => digits.slice(ends[at - 1] ?? 0, end)).join('-');
}
