import { withoutIgnorable } from './visible-text.ts';
import {
  base,
  followsComma,
  hasDigit,
  isAddress,
  isGlued,
  isNumber,
  isZero,
  mix,
  prime,
  seed,
  startsItem,
  type Words,
} from './words.ts';

/** Neither letter nor digit. */
const separator = 0;
const letter = 1;
const digit = 2;
/** Character that is a whole word, as in languages without spaces. */
const ideograph = 3;

/** Returns the kind of a character by its UTF-16 code unit. */
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

/** Returns the length of an ordinal's ending (`st`, `nd`, `rd`, `th`) at this position; 0 if there is none. */
function ordinalEnding(text: string, at: number, end: number): number {
  if (at + 2 > end) return 0;
  const ending = text.slice(at, at + 2).toLowerCase();
  if (ending !== 'th' && ending !== 'st' && ending !== 'nd' && ending !== 'rd') return 0;
  return at + 2 < end && kindOf(text.charCodeAt(at + 2)) !== separator ? 0 : 2;
}

/** Returns the number of digits from this position on. */
function digitsAt(text: string, at: number, end: number): number {
  let next = at;
  while (next < end && kindOf(text.charCodeAt(next)) === digit) next += 1;
  return next - at;
}

/** `true` for a character that stands for another one after a backslash. */
function isEscape(code: number): boolean {
  return code === 110 || code === 114 || code === 116 || code === 34 || code === 39 || code === 92;
}

/** Characters of the longest HTML entity that is recognized. */
const longestEntity = 8;
const entity = /^&(?:amp|lt|gt|quot|apos|nbsp|#\d+);/;

/** Returns the length of an HTML entity at this position; 0 if there is none. */
function entityAt(text: string, at: number): number {
  return entity.exec(text.slice(at, at + longestEntity))?.[0].length ?? 0;
}

/** Returns the hash of a word of lower-case letters, as {@link readWords} computes it. */
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
const percentEncoded = /%[\da-f]{2}/i;
const percentSequences = /(?:%[\da-f]{2})+/gi;
const beyondAscii = /[^\0-\x7f]/;

/** Decodes the percent-encoding of URLs; leaves invalid sequences unchanged. */
function decodedUrl(text: string): string {
  return text.replaceAll(percentSequences, (sequence) => {
    try {
      return decodeURIComponent(sequence);
    } catch {
      return sequence;
    }
  });
}

/**
 * Reads words without what a model changes when it copies a value: case, white space, quotes and other punctuation,
 * invisible characters, escapes, the encoding of URLs, separators and zeros of numbers, the format of dates.
 *
 * @param words - the words are appended to these
 */
export function readWords(text: string, words: Words): void {
  const plain = percentEncoded.test(text) ? decodedUrl(text) : text;
  const source = beyondAscii.test(plain) ? withoutIgnorable(plain.normalize('NFKC')) : plain;
  const end = source.length;
  let at = 0;
  let glue = startsItem;
  while (at < end) {
    const code = source.charCodeAt(at);
    const kind = kindOf(code);
    let width = 1;
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
    const { count } = words;
    at = readWord(source, at, end, glue, words);
    // The scheme of a URL, which is left out, joins nothing.
    if (words.count > count) glue = isGlued;
  }
}

/** Returns the flags of the next word after a separator. */
function glueAfter(glue: number, code: number): number {
  if (code === 10 || code === 13 || code === 124 || code === 59) return startsItem;
  if (code === 44) return followsComma;
  if (code === 32 || code === 9) return glue & (startsItem | followsComma);
  if (code === 64 || code === 47 || code === 46) return glue | isAddress;
  return glue;
}

/** Reads the word that begins here; returns the position after it. */
function readWord(text: string, start: number, end: number, glue: number, words: Words): number {
  let hash = seed;
  /** Like `hash`, but with leading zeros, which a number does not have. */
  let full = seed;
  let raw = 0;
  let rawLength = 0;
  let at = start;
  let digits = 0;
  let letters = 0;
  let significant = 0;
  let isDecimal = false;
  while (at < end) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    let width = 1;
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
        // The leading zeros belong to a name.
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

/** `true` if more of a number follows, as in versions, addresses and dates. */
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
