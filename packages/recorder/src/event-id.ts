import { randomFillSync } from 'node:crypto';

/** Random bytes are drawn in one go for many ids: one call costs as much as an id. */
const pool = new Uint8Array(8 * 256);
let poolOffset = pool.length;

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Before all that a clock says; node:test fakes one that begins at 0. */
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
 * A UUID version 7 (RFC 9562, section 5.7) that sorts after every one made before it in this thread: the 12 bits
 * behind the time are a counter seeded at random (section 6.2, method 1). The id is what makes sending an event
 * again harmless, so it is made once and kept.
 *
 * @param nowMs - milliseconds since the epoch
 */
export function createEventId(nowMs: number): string {
  // A clock that a test fakes may have parts of a millisecond, for which an id has no room.
  const wholeMs = Math.floor(nowMs);
  if (wholeMs > lastMs) {
    startMillisecond(wholeMs);
  } else if (++counter > 0xfff) {
    // The counter ran out, or the clock went back: borrow from the next millisecond.
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
  // An id has no room for a time before 1970.
  const ms = Math.max(0, atMs);
  lastMs = ms;
  // Half of the range stays free for the ids of the same millisecond.
  counter = ((randomByte() & 0x7) << 8) | randomByte();
  const hex = ms.toString(16).padStart(12, '0');
  timePart = `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The time in an id that {@link createEventId} made, in milliseconds since the epoch. */
export function eventIdTimeMs(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
}
