import { nameWords } from './name-words.ts';
import {
  forEachPhrase,
  groupedHash,
  inSystemText,
  inUserText,
  isTellable,
  type PhraseMemory,
  runningText,
  wholeField,
  wholeHash,
} from './phrase-memory.ts';
import { numberMonths, readWords } from './read-words.ts';
import {
  followsComma,
  hasDigit,
  isAddress,
  isGlued,
  isNumber,
  isZero,
  pairHash,
  startsItem,
  Words,
} from './words.ts';

/** Arguments that the model writes as a whole: commands, code, edits. A path or a number within them is no evidence. */
const writtenNames =
  /(?:^|[._-]|[a-z](?=[A-Z]))(?:argv|cmd|code|commands?|diff|edits?|file_text|input|(?:new|old)_?str(?:ing)?|patch|queries|query|script|shell|sql|source)$/i;
const urlValue = /^\s*[a-z][a-z\d+.-]*:\/\/\S+\s*$/i;
const hosts = [
  /\b[a-z][a-z\d+.-]*:\/\/(?:[^\s/@'"]{1,200}@)?((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})/gi,
  /\b[\w.-]{1,64}@((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})/gi,
  /\b(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|rsync|ping|dig|nslookup)\s(?:[^|;&\n]{0,200}?\s)?((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?=[\s/:'")]|$)/gi,
  /\/dev\/(?:tcp|udp)\/([a-z\d.-]+)/gi,
];
const local = /^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|.*\.local(?:host)?$)/i;
const mostHosts = 8;
const mostRead = 16 * 1024;

/** `true` for an argument that the model writes as a whole, such as a command, by its path. */
function isWritten(path: string): boolean {
  return writtenNames.test(path);
}

/** `true` for an argument whose hosts are traced separately: what the model writes, and the content of files. */
export function namesHosts(path: string): boolean {
  return isWritten(path) || /(?:^|\.)(?:contents?|text)$/i.test(path);
}

/** `true` for a value that is a URL. */
export function isUrl(text: string): boolean {
  return text.length <= mostRead && urlValue.test(text);
}

/** Returns the hosts that a command, code or a URL names, except for the machine itself. */
export function hostsIn(text: string): string[] {
  if (!text.includes('.') && !text.includes('/dev/')) return [];
  const found = new Set<string>();
  const read = text.slice(0, mostRead);
  for (const pattern of hosts) {
    for (const [, host] of read.matchAll(pattern)) {
      if (host === undefined || local.test(host)) continue;
      found.add(host);
      if (found.size === mostHosts) return [...found];
    }
  }
  return [...found];
}

/** Returns the values that a URL carries after its host, with their part of it. */
export function carriedValues(url: string): { readonly part: 'segment' | 'query'; readonly value: string }[] {
  const [route = '', ...query] = url
    .trim()
    .replace(/^[^:]*:\/\/[^/?#]*/, '')
    .split(/[?#]/);
  const valuesOf = (part: 'segment' | 'query', text: string) =>
    text.split(/[/&=;]+/).flatMap((value) => (value.length >= 4 ? [{ part, value }] : []));
  return [...valuesOf('segment', route), ...valuesOf('query', query.join('&'))].slice(-16);
}

/** Maximum number of phrases of arguments to keep until the result arrives. */
const maxPhrases = 2000;
/** A value of more words than this is searched for in parts. */
const longestValue = 12;
/** A value of more words than this that is found nowhere as a whole may have parts that are. */
const fewestOfLong = 3;
/** Minimum number of consecutive words that a source must contain, for a part of a long value. */
const shortestRun = 4;
/** Minimum share of a long value that must come from a source. */
const fewestCopied = 0.3;
/** Minimum share of a long value that user text must contain. */
const mostlyUser = 0.5;

/** Origins from the most to the least trusted, for lists and lists within strings. */
const trust = ['user', 'system', 'field', 'model', 'unknown', 'text'] as const;

/** Place in which a value was found. */
export interface Found {
  readonly rank: (typeof trust)[number];
  /** Number of the source for `field` and `text`. */
  readonly source: number;
}

/** Result for a value that is not found, but may have been in a part that was forgotten or not read. */
export const notKnown: Found = { rank: 'unknown', source: 0 };

const ofModel: Found = { rank: 'model', source: 0 };
const writtenSalt = 0x2545f491;
/** Maximum number of remembered values that the model wrote. */
const maxWritten = 2000;

/** Words of the value that is looked up. */
const words = new Words();
/** Kinds of sources that contain each word of a value, by position. */
let classes = new Uint8Array(256);
/** Kinds of sources that contain each word next to the one before it. */
let links = new Uint8Array(256);
const standsInText = 4;

/** Returns the less trusted of two origins; the first if they are equal. */
export function leastTrusted(a: Found | undefined, b: Found): Found {
  return a === undefined || trust.indexOf(b.rank) > trust.indexOf(a.rank) ? b : a;
}

/** Looks up in the memory where values came from. */
export class ValueSearch {
  readonly #memory: PhraseMemory;
  /** `true` if a message or result was not read in full, so that it may contain a value that is not found. */
  isPartial = false;
  /** Number of remembered values that the model wrote. */
  #written = 0;

  constructor(memory: PhraseMemory) {
    this.#memory = memory;
  }

  /**
   * Returns where a value came from; undefined if it is too short. A value that the model wrote under this name before
   * any text contained it remains its own, even if a text contains it now.
   */
  find(text: string, path: string, phrases: Set<number>): Found | undefined {
    const found = this.#findNow(text, path, phrases);
    if (found === undefined || words.count > longestValue || isWritten(path)) return found;
    if (found.rank !== 'text' && found.rank !== 'model') return found;
    const memory = this.#memory;
    const name = nameWords(path).at(-1) ?? 0;
    const written = pairHash(wholeHash(words, 0, words.count) ^ writtenSalt, name);
    if ((memory.find(written) & inSystemText) !== 0) return ofModel;
    if (found.rank === 'model' && this.#written < maxWritten) {
      this.#written += 1;
      memory.addText(written, inSystemText);
    }
    return found;
  }

  #findNow(text: string, path: string, phrases: Set<number>): Found | undefined {
    words.count = 0;
    readWords(text, words);
    const { count } = words;
    if (count === 0) return undefined;
    numberMonths(words);
    if (phrases.size < maxPhrases) {
      forEachPhrase(words, (hash) => phrases.add(hash));
      phrases.add(wholeHash(words, 0, count));
    }
    if (!isTellable(words)) return this.#findNamed(path, phrases);
    if (isWritten(path)) return this.#findWritten();
    if (count > longestValue) return this.#findLong();
    const whole = this.#findShort(0, count);
    if (whole.rank !== 'model' && whole.rank !== 'unknown') return whole;
    const items = this.#findItems(0, count);
    if (items !== undefined) return items;
    return count > fewestOfLong ? this.#findLong() : whole;
  }

  /** `true` if a source contains the whole value. */
  standsWhole(text: string): boolean {
    words.count = 0;
    readWords(text, words);
    if (words.count === 0) return true;
    numberMonths(words);
    const { rank } = this.#findShort(0, words.count);
    return rank !== 'model' && rank !== 'unknown';
  }

  /** Finds a value of one or two characters beside its name, such as the 7 of `file_id` in "the file 7". */
  #findNamed(path: string, phrases: Set<number>): Found | undefined {
    const memory = this.#memory;
    let best: Found | undefined;
    for (const name of nameWords(path)) {
      const hash = pairHash(name, words.hashes[0] as number);
      phrases.add(hash);
      const found = memory.find(hash);
      // Running text with the name and the number refers to it, but lists of records have a field for every number.
      const text = memory.sourceIn(found, runningText);
      const source = text || memory.sourceIn(found, wholeField);
      let rank: Found['rank'] | undefined;
      if ((found & inUserText) !== 0) rank = 'user';
      else if ((found & inSystemText) !== 0) rank = 'system';
      else if (source !== 0) rank = text === 0 ? 'field' : 'text';
      if (rank === undefined) continue;
      if (best === undefined || trust.indexOf(rank) < trust.indexOf(best.rank)) best = { rank, source };
    }
    return best;
  }

  /** Finds a short value, or an item of a list, as a whole. */
  #findShort(start: number, end: number): Found {
    const memory = this.#memory;
    let common = 0xff;
    this.#classify(start, end);
    for (let at = start; at < end; at += 1) {
      if (end - start > 1 && ((words.flags[at] as number) & isZero) !== 0) continue;
      common &= classes[at] as number;
      if (at > start && isBound(at)) common &= links[at] as number;
    }
    const grouped = groupedHash(words, start, end);
    const groupedFound = grouped === 0 ? 0 : memory.find(grouped);
    if (((common | groupedFound) & inUserText) !== 0) return { rank: 'user', source: 0 };
    if (((common | groupedFound) & inSystemText) !== 0) return { rank: 'system', source: 0 };
    const field = memory.sourceIn(memory.find(wholeHash(words, start, end)), wholeField);
    if (field !== 0) return { rank: 'field', source: field };
    let text = memory.sourceIn(groupedFound, runningText);
    if (text === 0 && (common & standsInText) !== 0) text = this.#textSource(start, end);
    if (text !== 0) return { rank: 'text', source: text };
    return this.#notFound();
  }

  /**
   * Returns the least trusted origin of the items of a list; undefined for other values. Where a comma leaves a single
   * word, which may stand anywhere, all must be found: commas also separate the parts of names and dates.
   */
  #findItems(start: number, end: number): Found | undefined {
    let least: Found | undefined;
    let isMissing = false;
    let isCommaSingle = false;
    let hasComma = false;
    let from = start;
    for (let at = start + 1; at <= end; at += 1) {
      const separator = at < end ? (words.flags[at] as number) & (startsItem | followsComma) : startsItem;
      if (separator === 0) continue;
      if (separator === followsComma) hasComma = true;
      if (from === start && at === end) return undefined;
      const found = this.#findShort(from, at);
      least = leastTrusted(least, found);
      if (found.rank === 'model' || found.rank === 'unknown') isMissing = true;
      if (at === from + 1 && hasComma) isCommaSingle = true;
      from = at;
    }
    return isMissing && isCommaSingle ? this.#notFound() : least;
  }

  #findLong(): Found {
    const { count } = words;
    // An address or a number from a tool's text, among words that the model wrote.
    let atom: Found | undefined;
    for (let start = 0; start < count; ) {
      let end = start + 1;
      let isAtom = ((words.flags[start] as number) & isNumber) !== 0 && (words.lengths[start] as number) >= 4;
      while (end < count && ((words.flags[end] as number) & isGlued) !== 0) {
        if (((words.flags[end] as number) & isAddress) !== 0) isAtom = true;
        end += 1;
      }
      if (((words.flags[start] as number) & (hasDigit | isNumber)) === hasDigit && end === start + 1)
        isAtom = true;
      if (isAtom) {
        const found = this.#findShort(start, end);
        if (found.rank === 'text' || (found.rank === 'field' && atom === undefined)) atom = found;
      }
      start = end;
    }
    this.#classify(0, count);
    const share = (bit: number) => inRuns(count, bit) / count;
    if (atom?.rank === 'text') return atom;
    const user = share(inUserText);
    if (user >= mostlyUser) return { rank: 'user', source: 0 };
    if (share(standsInText) >= fewestCopied) return { rank: 'text', source: this.#textSource(0, count) };
    if (share(inSystemText) >= mostlyUser) return { rank: 'system', source: 0 };
    return atom ?? this.#notFound();
  }

  /**
   * Finds a command or code: as a whole in the user's text, the system prompt or a field, or a part of four tokens or more
   * in a running text. A path in it, however long, is one token.
   */
  #findWritten(): Found {
    const { count } = words;
    const memory = this.#memory;
    this.#classify(0, count);
    if (inRuns(count, inUserText) >= count * mostlyUser) return { rank: 'user', source: 0 };
    const [start, end] = longestRun(count, standsInText);
    if (end > start) return { rank: 'text', source: this.#textSource(start, end) };
    if (count <= longestValue) {
      const whole = this.#findShort(0, count);
      if (whole.rank !== 'text') return whole;
    }
    const field = memory.sourceIn(memory.find(wholeHash(words, 0, count)), wholeField);
    if (field !== 0) return { rank: 'field', source: field };
    if (inRuns(count, inSystemText) >= count * mostlyUser) return { rank: 'system', source: 0 };
    return this.#notFound();
  }

  #notFound(): Found {
    return { rank: this.#memory.isIncomplete || this.isPartial ? 'unknown' : 'model', source: 0 };
  }

  /** Records for each word which kinds of sources contain it next to one of its neighbors. */
  #classify(start: number, end: number): void {
    if (classes.length < end) {
      classes = new Uint8Array(end * 2);
      links = new Uint8Array(end * 2);
    }
    const memory = this.#memory;
    if (end - start === 1) {
      classes[start] = this.#classesOf(memory.find(words.hashes[start] as number));
      return;
    }
    let before = 0;
    for (let at = start; at < end; at += 1) {
      const after =
        at + 1 < end
          ? this.#classesOf(memory.find(pairHash(words.hashes[at] as number, words.hashes[at + 1] as number)))
          : 0;
      classes[at] = before | after;
      links[at] = before;
      before = after;
    }
  }

  #classesOf(found: number): number {
    if (found === 0) return 0;
    let bits = found & 3;
    if (this.#memory.sourceIn(found, runningText) !== 0) bits |= standsInText;
    return bits;
  }

  /** Returns the newest source whose text contains a phrase of a value. */
  #textSource(start: number, end: number): number {
    const memory = this.#memory;
    const { hashes } = words;
    if (end - start === 1) return memory.sourceIn(memory.find(hashes[start] as number), runningText);
    let source = 0;
    for (let at = start; at + 1 < end; at += 1) {
      const found = memory.find(pairHash(hashes[at] as number, hashes[at + 1] as number));
      source = Math.max(source, memory.sourceIn(found, runningText));
    }
    return source;
  }
}

/**
 * `true` for a word that belongs to the one before it, as in an address: `a@b.com` is not there because `a@c.com` and
 * `d@b.com` are. Parts of dates and times may stand apart.
 */
function isBound(at: number): boolean {
  const flags = words.flags[at] as number;
  return (flags & isGlued) !== 0 && (flags & (words.flags[at - 1] as number) & isNumber) === 0;
}

/** Returns the number of words of the value that such sources contain in runs, each next to the one before it. */
function inRuns(count: number, bit: number): number {
  let sum = 0;
  let run = 1;
  for (let at = 1; at <= count; at += 1) {
    if (at < count && ((links[at] as number) & bit) !== 0) run += 1;
    else {
      if (run >= shortestRun) sum += run;
      run = 1;
    }
  }
  return sum;
}

/**
 * Returns the start and end of the first run of at least four tokens that such sources contain, each next to the one
 * before it, and that user text does not; an empty range if there is none.
 */
function longestRun(count: number, bit: number): readonly [number, number] {
  let start = 0;
  let tokens = 1;
  for (let at = 1; at <= count; at += 1) {
    const link = at < count ? (links[at] as number) : 0;
    if ((link & bit) !== 0 && (link & inUserText) === 0) {
      if (((words.flags[at] as number) & isGlued) === 0) tokens += 1;
      continue;
    }
    if (tokens >= shortestRun) return [start, at];
    start = at;
    tokens = 1;
  }
  return [0, 0];
}
