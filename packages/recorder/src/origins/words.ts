import { randomBytes } from 'node:crypto';

/** Secret of this process. Hashes never leave the process, and without the secret they would reveal nothing. */
export const seed = randomBits(0x811c9dc5);

/** Multiplier of the hashes. */
export const prime = 0x01000193;
/** Base of the polynomial hash of a word's characters, by which words can be joined. */
export const base = (randomBits(0x5bd1e995) | 1) >>> 0;

/** Returns 32 random bits, or the given ones on workerd, which allows no random values while modules are loaded. */
function randomBits(fixed: number): number {
  try {
    return randomBytes(4).readUInt32LE();
  } catch {
    return fixed;
  }
}

/** Spreads the bits of a hash. */
export function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the hash of joined words from two hashes: of all words but the last, and of the last. */
export function joined(first: number, last: number, lastLength: number): number {
  let hash = first;
  for (let left = lastLength; left > 0; left -= 1) hash = Math.imul(hash, base);
  return (hash + last) >>> 0;
}

/** Returns the hash of two neighboring words, the same in either order, so that dates and names may be reordered. */
export function pairHash(a: number, b: number): number {
  return mix(Math.imul((a + b) | 0, 0x9e3779b1) ^ Math.imul(a ^ b, 0x7feb352d) ^ 0x5bd1e995);
}

/** Word that contains a digit. */
export const hasDigit = 1;
/** Word of digits only, also a decimal number or the name of a month beside a number. */
export const isNumber = 2;
/** Word that continues the previous one without white space, as in `a@b.com` or `2026-01-31`. */
export const isGlued = 4;
/** Word that is the number zero: a reformatted time has more or fewer of them. */
export const isZero = 8;
/** Word that is joined to the previous one by `@`, `/` or a dot, as in addresses. */
export const isAddress = 16;
/** First word after the end of a line or of an item of a list. */
export const startsItem = 32;
/** First word after a comma, which ends an item of a list, or separates the parts of a name or a date. */
export const followsComma = 64;

/** Words as parallel columns, reused for each string. */
export class Words {
  /** Number of words. */
  count = 0;
  hashes = new Uint32Array(256);
  /** Polynomial hash of the unchanged characters, for numbers that are written with and without separators. */
  raw = new Uint32Array(256);
  flags = new Uint8Array(256);
  /** Number of characters in `raw`, at most 255. */
  lengths = new Uint8Array(256);

  add(hash: number, raw: number, flags: number, length: number): void {
    if (this.count === this.hashes.length) this.#grow();
    this.hashes[this.count] = hash;
    this.raw[this.count] = raw;
    this.flags[this.count] = flags;
    this.lengths[this.count] = Math.min(length, 255);
    this.count += 1;
  }

  #grow(): void {
    const size = this.hashes.length * 2;
    const columns = [this.hashes, this.raw] as const;
    [this.hashes, this.raw] = columns.map((column) => {
      const larger = new Uint32Array(size);
      larger.set(column);
      return larger;
    }) as [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>];
    const flags = new Uint8Array(size);
    flags.set(this.flags);
    this.flags = flags;
    const lengths = new Uint8Array(size);
    lengths.set(this.lengths);
    this.lengths = lengths;
  }
}
