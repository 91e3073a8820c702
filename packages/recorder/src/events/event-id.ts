import { randomFillSync } from 'node:crypto';

/** Pool of random bytes for many ids, because each draw costs as much as an id. */
const pool = new Uint8Array(8 * 256);
let poolOffset = pool.length;

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Less than any clock value, because `node:test` fakes a clock that starts at 0. */
let lastMs = Number.NEGATIVE_INFINITY;
let counter = 0;
let timePart = '';

function randomByte(): number {
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  return pool[poolOffset++] as number;
}

function hexByte(byte: number): string {
  return hexBytes[byte] as string;
}

/**
 * Creates a UUID version 7 (RFC 9562, section 5.7) that sorts after all earlier ones of this thread: the 12 bits after
 * the time are a randomly seeded counter (section 6.2, method 1). The id makes repeated sending harmless, so it is
 * created once and kept.
 *
 * @param nowMs - Unix time in milliseconds
 */
export function createEventId(nowMs: number): string {
  // A fake clock may return fractions of a millisecond, which an id cannot represent.
  const wholeMs = Math.floor(nowMs);
  if (wholeMs > lastMs) {
    startMillisecond(wholeMs);
  } else if (++counter > 0xfff) {
    // The counter overflowed, or the clock went back: borrow from the next millisecond.
    startMillisecond(lastMs + 1);
  }
  const variant = 0x80 | (randomByte() & 0x3f);
  const random =
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte());
  return `${timePart}-7${hexByte(counter >> 4)}${(counter & 0xf).toString(16)}-${hexByte(variant)}${hexByte(randomByte())}-${random}`;
}

function startMillisecond(atMs: number): void {
  // An id cannot represent a time before 1970.
  const ms = Math.max(0, atMs);
  lastMs = ms;
  // Leave half of the range for further ids of the same millisecond.
  counter = ((randomByte() & 0x7) << 8) | randomByte();
  const hex = ms.toString(16).padStart(12, '0');
  timePart = `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Returns the time in an id created by {@link createEventId}, in Unix milliseconds. */
export function eventIdTimeMs(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
}

/** `true` for an id of the kind that {@link createEventId} creates: a UUID of version 7 in lower case. */
export function isEventId(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id);
}
