/** Positions of the hyphens in a UUID (RFC 9562, section 4). */
const hyphens = new Set([8, 13, 18, 23]);

/** Position of the first digit of each of the 16 bytes. */
const digitPlaces = Array.from({ length: 36 }, (_, place) => place)
  .filter((place) => !hyphens.has(place))
  .filter((_, index) => index % 2 === 0);

/** Returns the value of a lower-case hexadecimal digit by its code; -1 for any other character. */
function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : -1;
}

/**
 * Adds the 16 bytes of a lower-case UUID. Returns false for any other string, possibly after adding some
 * bytes.
 */
export function writeUuid(text: string, bytes: number[]): boolean {
  if (text.length !== 36) return false;
  for (const hyphen of hyphens) if (text.charCodeAt(hyphen) !== 0x2d) return false;
  for (const place of digitPlaces) {
    const high = digitValue(text.charCodeAt(place));
    const low = digitValue(text.charCodeAt(place + 1));
    if (high < 0 || low < 0) return false;
    bytes.push(high * 16 + low);
  }
  return true;
}

/** Returns the lower-case UUID of 16 bytes. */
export function uuidOf(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [8, 12, 16, 20, 32].map((end, at, ends) => digits.slice(ends[at - 1] ?? 0, end)).join('-');
}
