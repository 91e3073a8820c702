import {
  followsComma,
  hasDigit,
  isNumber,
  isZero,
  joined,
  mix,
  pairHash,
  startsItem,
  type Words,
} from './words.ts';

/** Bit of {@link PhraseMemory.find} for a phrase in user text. */
export const inUserText = 1;
/** Bit for a phrase in the system prompt. */
export const inSystemText = 2;

/** Numbers of sources wrap here: two of them and two bits fit into one word. */
const sourceNumbers = 32_767;
/** Two words a slot. */
const bytesPerSlot = 8;
/** Slots of a new table. */
const smallestTable = 1024;
/** Bytes that a caller keeps for each source, such as the name of its tool. */
const bytesPerSource = 128;

/** Place of a phrase in the results of calls: a whole field, or running text. */
export type Place = 0 | 1;
/** A whole field of a result. */
export const wholeField: Place = 0;
/** A part of running text, or of a field. */
export const runningText: Place = 1;

const placeShift = [2, 17] as const;
const sourceMask = 0x7fff;

/**
 * Remembers the hashes of phrases and where they occurred, in a bounded table. Sources are numbered in order of
 * arrival. Beyond the limit the oldest sources are forgotten, except for user and system text.
 */
export class PhraseMemory {
  #keys = new Uint32Array(smallestTable);
  #values = new Uint32Array(smallestTable);
  #used = 0;
  readonly #maxSlots: number;
  /** Maximum number of sources that are remembered. */
  readonly #maxSources: number;
  /** Number of sources so far. */
  #sources = 0;
  /** The oldest source that is remembered. */
  #oldest = 1;
  /** `true` once anything was forgotten. */
  isIncomplete = false;

  /** @param maxBytes - limit for the table, which gets three quarters of it, and for what callers keep for sources */
  constructor(maxBytes: number) {
    this.#maxSlots = Math.floor((maxBytes * 3) / 4 / bytesPerSlot);
    this.#maxSources = Math.min(sourceNumbers - 1, Math.floor(maxBytes / 4 / bytesPerSource));
  }

  /** Size of the table in bytes. */
  get bytes(): number {
    return this.#keys.length * bytesPerSlot;
  }

  /** The oldest source that is remembered. */
  get oldestSource(): number {
    return this.#oldest;
  }

  /** Starts a new source and returns its number. */
  beginSource(): number {
    this.#sources += 1;
    if (this.#sources - this.#oldest >= this.#maxSources) {
      this.#forgetSources(this.#oldest + Math.max(1, this.#maxSources >> 2));
    }
    return this.#sources;
  }

  /** Remembers that sources of these kinds contain a phrase. */
  addText(hash: number, bits: number): void {
    const slot = this.#slotFor(hash);
    if (slot >= 0) this.#values[slot] = (this.#values[slot] as number) | bits;
  }

  /** Remembers that the newest source contains a phrase. */
  addResult(hash: number, place: Place): void {
    const slot = this.#slotFor(hash);
    if (slot < 0) return;
    const shift = placeShift[place];
    const kept = (this.#values[slot] as number) & ~(sourceMask << shift);
    this.#values[slot] = (kept | (((this.#sources % sourceNumbers) + 1) << shift)) >>> 0;
  }

  /** Returns what is known about a phrase, for {@link sourceIn}; 0 if nothing is. */
  find(hash: number): number {
    const key = hash === 0 ? 1 : hash;
    const slot = this.#placeOf(key);
    return (this.#keys[slot] as number) === key ? (this.#values[slot] as number) : 0;
  }

  /** Returns the number of the last source that contained a phrase in such a place; 0 if there is none. */
  sourceIn(found: number, place: Place): number {
    const stored = (found >>> placeShift[place]) & sourceMask;
    if (stored === 0) return 0;
    // The newest source with this stored number.
    const back = ((this.#sources % sourceNumbers) - (stored - 1) + sourceNumbers) % sourceNumbers;
    const source = this.#sources - back;
    return source >= this.#oldest ? source : 0;
  }

  #slotFor(hash: number): number {
    const key = hash === 0 ? 1 : hash;
    let slot = this.#placeOf(key);
    if ((this.#keys[slot] as number) === key) return slot;
    if (this.#used * 4 >= this.#keys.length * 3) {
      if (!this.#makeRoom()) return -1;
      slot = this.#placeOf(key);
    }
    this.#keys[slot] = key;
    this.#values[slot] = 0;
    this.#used += 1;
    return slot;
  }

  /** Returns the slot of a key, or the free one in which it would be. */
  #placeOf(key: number): number {
    const { length } = this.#keys;
    // The upper bits, scaled to the table: a remainder of numbers beyond 31 bits is slow.
    let slot = Math.floor((key / 2 ** 32) * length);
    for (;;) {
      const found = this.#keys[slot] as number;
      if (found === key || found === 0) return slot;
      slot = slot + 1 === length ? 0 : slot + 1;
    }
  }

  /** Enlarges the table, or forgets the oldest sources; returns `false` if the newest alone fills it. */
  #makeRoom(): boolean {
    if (this.#keys.length < this.#maxSlots) {
      this.#rebuild(Math.min(this.#keys.length * 2, this.#maxSlots));
      return true;
    }
    this.isIncomplete = true;
    while (this.#oldest < this.#sources) {
      this.#forgetSources(this.#oldest + Math.max(1, (this.#sources - this.#oldest) >> 2));
      if (this.#used * 2 < this.#keys.length) return true;
    }
    return false;
  }

  #forgetSources(oldest: number): void {
    this.isIncomplete = true;
    this.#oldest = oldest;
    this.#rebuild(this.#keys.length);
  }

  #rebuild(slots: number): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Uint32Array(slots);
    this.#values = new Uint32Array(slots);
    this.#used = 0;
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as number;
      if (key === 0) continue;
      const value = this.#withoutForgotten(values[at] as number);
      if (value === 0) continue;
      const slot = this.#placeOf(key);
      this.#keys[slot] = key;
      this.#values[slot] = value;
      this.#used += 1;
    }
  }

  #withoutForgotten(value: number): number {
    let kept = value & 3;
    for (const place of [wholeField, runningText]) {
      if (this.sourceIn(value, place) !== 0) kept |= value & (sourceMask << placeShift[place]);
    }
    return kept >>> 0;
  }
}

const wholeSalt = 0x27d4eb2f;
const compactSalt = 0x165667b1;
/** Fewest characters of a number whose groups may be written together or apart, such as an account number. */
const shortestGrouped = 8;
/** Minimum number of letters and digits of a value; shorter values occur everywhere. */
const fewestCharacters = 3;

/** Calls back with the hash of every word, of every pair of neighbors, and of numbers written in groups. */
export function forEachPhrase(
  { hashes, flags, raw, lengths, count }: Words,
  read: (hash: number) => void,
): void {
  let group = 0;
  let groupLength = 0;
  for (let at = 0; at < count; at += 1) {
    const hash = hashes[at] as number;
    read(hash);
    if (at > 0) read(pairHash(hashes[at - 1] as number, hash));
    const isNumeric = ((flags[at] as number) & isNumber) !== 0;
    if (at > 1 && isNumeric && ((flags[at - 1] as number) & (flags[at - 2] as number) & isNumber) !== 0) {
      read(pairHash(hashes[at - 2] as number, hash));
    }
    if (((flags[at] as number) & hasDigit) === 0 || (lengths[at] as number) === 0) {
      groupLength = 0;
      continue;
    }
    const isMore = groupLength > 0 && ((flags[at] as number) & (startsItem | followsComma)) === 0;
    group = isMore ? joined(group, raw[at] as number, lengths[at] as number) : (raw[at] as number);
    groupLength = (isMore ? groupLength : 0) + (lengths[at] as number);
    if (groupLength >= shortestGrouped) read(mix(group ^ compactSalt));
  }
}

/** Returns the hash of all characters of a number written in groups; 0 for other values. */
export function groupedHash({ flags, raw, lengths }: Words, start: number, end: number): number {
  let group = 0;
  let length = 0;
  for (let at = start; at < end; at += 1) {
    if (((flags[at] as number) & hasDigit) === 0) return 0;
    group = at === start ? (raw[at] as number) : joined(group, raw[at] as number, lengths[at] as number);
    length += lengths[at] as number;
  }
  return length >= shortestGrouped ? mix(group ^ compactSalt) : 0;
}

/** Returns the hash of a whole value. Ignores zeros beside other words: times are written with and without seconds. */
export function wholeHash({ flags, hashes }: Words, start: number, end: number): number {
  let hash = wholeSalt;
  for (let at = start; at < end; at += 1) {
    if (end - start > 1 && ((flags[at] as number) & isZero) !== 0) continue;
    hash = mix(Math.imul(hash, 31) ^ (hashes[at] as number));
  }
  return hash;
}

/** `true` if the words are long enough to be traced: three letters, or three digits. */
export function isTellable({ count, lengths }: Words): boolean {
  let length = 0;
  for (let at = 0; at < count && length < fewestCharacters; at += 1) {
    length += Math.max(1, lengths[at] as number);
  }
  return length >= fewestCharacters;
}
