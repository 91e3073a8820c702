import { randomBytes } from 'node:crypto';

/** Secret of this process. Hashes never leave the process; with the secret, they would say nothing outside either. */
const seed = randomBytes(4).readUInt32LE();

const prime = 0x01000193;
/** Base of the polynomial hash of a word's characters, by which words can be joined. */
const base = (randomBytes(4).readUInt32LE() | 1) >>> 0;

/** Spreads the bits of a hash. */
export function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Hash of the characters of words joined, from that of all but the last and that of the last. */
export function joined(first: number, last: number, lastLength: number): number {
  let hash = first;
  for (let left = lastLength; left > 0; left -= 1) hash = Math.imul(hash, base);
  return (hash + last) >>> 0;
}

/** Hash of two neighboring words, the same in either order, so that dates and names may be turned around. */
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
/** First word of a separate item: the text before it ends a line, an item of a list or a sentence. */
export const startsItem = 32;

/** Words of a text as parallel columns, reused from text to text. */
export class Words {
  /** Number of words. */
  count = 0;
  hashes = new Uint32Array(256);
  /** Polynomial hash of the characters as they stand, for numbers that are written with and without separators. */
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

const separator = 0;
const letter = 1;
const digit = 2;
/** Character that is a word of its own, as in languages without spaces. */
const ideograph = 3;

function kindOf(code: number): number {
  if (code < 128) {
    if (code >= 48 && code <= 57) return digit;
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) ? letter : separator;
  }
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? letter : separator;
  if (code >= 0x2000 && code <= 0x2bff) return separator;
  if (code >= 0x3000 && code <= 0x303f) return separator;
  if (code >= 0x3040 && code <= 0x9fff) return ideograph;
  if (code >= 0xff00 && code <= 0xff0f) return separator;
  return letter;
}

/** Hash of a word of lower-case letters, as {@link readWords} computes it. */
function wordHash(word: string): number {
  let hash = seed;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), prime);
  return mix(hash);
}

const months = new Map<number, number>(
  [
    'january jan',
    'february feb',
    'march mar',
    'april apr',
    'may',
    'june jun',
    'july jul',
    'august aug',
    'september sep sept',
    'october oct',
    'november nov',
    'december dec',
  ].flatMap((names, at) => names.split(' ').map((name) => [wordHash(name), wordHash(String(at + 1))])),
);

const schemes = new Set([wordHash('http'), wordHash('https')]);
const beyondAscii = /[^\0-\x7f]/;

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Length of an ordinal's ending (`st`, `nd`, `rd`, `th`) at this place; 0 if there is none. */
function ordinalEnding(text: string, at: number, end: number): number {
  if (at + 2 > end) return 0;
  const ending = text.slice(at, at + 2).toLowerCase();
  if (ending !== 'th' && ending !== 'st' && ending !== 'nd' && ending !== 'rd') return 0;
  return at + 2 < end && kindOf(text.charCodeAt(at + 2)) !== separator ? 0 : 2;
}

/** Number of digits from this place on. */
function digitsAt(text: string, at: number, end: number): number {
  let next = at;
  while (next < end && kindOf(text.charCodeAt(next)) === digit) next += 1;
  return next - at;
}

/**
 * Reads the words of a text, so that what a model changes when it copies a value makes no difference: case, white
 * space, quotes and other punctuation, escapes, the encoding of URLs, separators and zeros of numbers, the format of
 * dates.
 *
 * @param words - receives the words, after those that it has
 */
export function readWords(text: string, words: Words): void {
  const source = beyondAscii.test(text) ? text.normalize('NFKC') : text;
  const end = source.length;
  let at = 0;
  let glue = startsItem;
  while (at < end) {
    let code = source.charCodeAt(at);
    let kind = kindOf(code);
    let width = 1;
    if (code === 37 && at + 2 < end) {
      const high = hexValue(source.charCodeAt(at + 1));
      const low = hexValue(source.charCodeAt(at + 2));
      if (high >= 0 && low >= 0) {
        code = high * 16 + low;
        kind = code < 128 ? kindOf(code) : letter;
        width = 3;
      }
    }
    if (kind === separator) {
      if (code === 92 && at + 1 < end && isEscape(source.charCodeAt(at + 1))) {
        width = 2;
        glue = startsItem;
      } else if (code === 38 && entityAt(source, at) > 0) {
        width = entityAt(source, at);
        glue &= ~(isGlued | isAddress);
      } else glue = glueAfter(glue, code);
      at += width;
      continue;
    }
    if (kind === ideograph) {
      words.add(mix(Math.imul(seed ^ code, prime)), 0, glue, 1);
      glue = isGlued;
      at += width;
      continue;
    }
    at = readWord(source, at, end, glue, words);
    glue = isGlued;
  }
}

function isEscape(code: number): boolean {
  return code === 110 || code === 114 || code === 116 || code === 34 || code === 39 || code === 92;
}

function entityAt(text: string, at: number): number {
  const end = text.indexOf(';', at + 2);
  if (end < 0 || end > at + 6) return 0;
  return /^&(?:amp|lt|gt|quot|apos|nbsp|#\d+);$/.test(text.slice(at, end + 1)) ? end + 1 - at : 0;
}

/** Flags of the next word after a separator. */
function glueAfter(glue: number, code: number): number {
  // Line feeds, bars and semicolons end an item wherever they stand; a comma does as well, outside of numbers.
  if (code === 10 || code === 13 || code === 124 || code === 59 || code === 44) return startsItem;
  if (code === 32 || code === 9) return glue & startsItem;
  if (code === 64 || code === 47 || code === 46) return glue | isAddress;
  return glue;
}

/** Reads the word that begins here; returns the position after it. */
function readWord(text: string, start: number, end: number, glue: number, words: Words): number {
  let hash = seed;
  /** Like `hash`, with the leading zeros that a number has not. */
  let full = seed;
  let raw = 0;
  let rawLength = 0;
  let at = start;
  let digits = 0;
  let letters = 0;
  let significant = 0;
  let isDecimal = false;
  while (at < end) {
    let code = text.charCodeAt(at);
    let width = 1;
    let kind = kindOf(code);
    if (code === 37 && at + 2 < end) {
      const high = hexValue(text.charCodeAt(at + 1));
      const low = hexValue(text.charCodeAt(at + 2));
      if (high >= 0 && low >= 0) {
        code = high * 16 + low;
        kind = code < 128 ? kindOf(code) : letter;
        width = 3;
      }
    }
    if (kind === letter) {
      if (letters === 0 && digits > 0) {
        const ending = ordinalEnding(text, at, end);
        if (ending > 0) {
          at += ending;
          break;
        }
        // The T and the Z of ISO 8601.
        const lower = code | 32;
        const next = at + 1 < end ? kindOf(text.charCodeAt(at + 1)) : separator;
        if (lower === 116 && digits === 2 && next === digit) {
          at += 1;
          break;
        }
        if (lower === 122 && next === separator) {
          at += 1;
          break;
        }
        // What looked like leading zeros belongs to a name.
        hash = full;
      }
      const lower = code >= 65 && code <= 90 ? code | 32 : code;
      const folded = lower < 128 ? lower : foldedCode(lower);
      hash = Math.imul(hash ^ folded, prime);
      raw = (Math.imul(raw, base) + folded) | 0;
      rawLength += 1;
      letters += 1;
      significant += 1;
    } else if (kind === digit) {
      full = Math.imul(full ^ code, prime);
      raw = (Math.imul(raw, base) + code) | 0;
      rawLength += 1;
      digits += 1;
      if (letters > 0 || significant > 0 || code !== 48) {
        hash = Math.imul(hash ^ code, prime);
        significant += 1;
      }
    } else if ((code === 39 || code === 0x2019) && letters > 0) {
      // An apostrophe within a word, doubled where quotes are escaped so.
      let next = at + 1;
      while (next < end && text.charCodeAt(next) === code) next += 1;
      if (next >= end || kindOf(text.charCodeAt(next)) !== letter) break;
      width = next - at;
    } else if (
      code === 44 &&
      letters === 0 &&
      digits > 0 &&
      !isDecimal &&
      digitsAt(text, at + 1, end) === 3
    ) {
      // A separator of thousands.
    } else if (code === 46 && letters === 0 && digits > 0 && !isDecimal) {
      const fraction = digitsAt(text, at + 1, end);
      const after = at + 1 + fraction;
      if (fraction === 0 || continuesNumber(text, after, end)) break;
      isDecimal = true;
      let last = fraction;
      while (last > 0 && text.charCodeAt(at + last) === 48) last -= 1;
      if (last > 0) {
        hash = Math.imul(hash ^ 46, prime);
        for (let place = 1; place <= last; place += 1) {
          hash = Math.imul(hash ^ text.charCodeAt(at + place), prime);
        }
        significant += last;
      }
      at = after;
      break;
    } else break;
    at += width;
  }
  if (letters === 0 && significant === 0) hash = Math.imul(hash ^ 48, prime);
  let flags = glue | (digits > 0 ? hasDigit : 0);
  if (letters === 0) flags |= isNumber | (significant === 0 ? isZero : 0);
  const word = mix(hash);
  // The scheme of a URL is often added or left out.
  if (schemes.has(word) && text.charCodeAt(at) === 58 && text.charCodeAt(at + 1) === 47) return at;
  words.add(word, raw >>> 0, flags, rawLength);
  return at;
}

/** `true` after a number of which more follows, as in versions, addresses and dates. */
function continuesNumber(text: string, at: number, end: number): boolean {
  if (at >= end) return false;
  const kind = kindOf(text.charCodeAt(at));
  if (kind === letter) return ordinalEnding(text, at, end) === 0;
  return text.charCodeAt(at) === 46 && at + 1 < end && kindOf(text.charCodeAt(at + 1)) === digit;
}

function foldedCode(code: number): number {
  const folded = String.fromCharCode(code).toLowerCase();
  return folded.length === 1 ? folded.charCodeAt(0) : code;
}

/** Turns names of months beside a number into numbers. */
export function numberMonths(words: Words): void {
  const { hashes, flags, count } = words;
  for (let at = 0; at < count; at += 1) {
    if (((flags[at] as number) & hasDigit) !== 0) continue;
    const month = months.get(hashes[at] as number);
    if (month === undefined) continue;
    const isBesideNumber =
      (at > 0 && ((flags[at - 1] as number) & isNumber) !== 0) ||
      (at + 1 < count && ((flags[at + 1] as number) & isNumber) !== 0);
    if (!isBesideNumber) continue;
    hashes[at] = month;
    flags[at] = (flags[at] as number) | isNumber | hasDigit;
  }
}
