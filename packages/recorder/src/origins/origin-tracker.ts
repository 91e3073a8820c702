import { hash as digest, randomBytes } from 'node:crypto';
import type { ArgumentOrigin, ArgumentOrigins } from '../events/argument-origin.ts';
import {
  inSystemText,
  inUserText,
  PhraseMemory,
  type Place,
  runningText,
  wholeField,
  withinField,
} from './phrase-memory.ts';
import { readSegments } from './result-segments.ts';
import {
  hasDigit,
  isAddress,
  isGlued,
  isNumber,
  isZero,
  joined,
  mix,
  numberMonths,
  pairHash,
  readWords,
  startsItem,
  Words,
} from './words.ts';

/** A call whose result is remembered. */
export interface TracedCall {
  readonly toolName: string;
  /** Id of the call's event; undefined if none was recorded. */
  readonly eventId: string | undefined;
}

/** Arguments whose origins were traced; their words are not taken from the call's own result. */
export interface Trace {
  readonly origins: ArgumentOrigins;
  /** Hashes of the phrases of the arguments, which a result often repeats. */
  readonly phrases: ReadonlySet<number>;
}

/** Maximum number of paths that are reported of a call (reference profile, `action.origins`). */
const maxPaths = 64;
const maxPathLength = 200;
/** Maximum number of values that are read of arguments or of a result. */
const maxValues = 5000;
/** Maximum number of characters that are read of a call's arguments, and of a result or another text. */
const maxArgumentCharacters = 64 * 1024;
const maxTextCharacters = 256 * 1024;
/** Phrases of arguments that are kept until the result has come. */
const maxPhrases = 2000;
const maxDepth = 20;
/** Maximum number of texts whose digests are kept. */
const maxTexts = 1000;

/** Secret of this process for the digests of texts. */
const secret = randomBytes(16).toString('hex');

/** A value of more words than this is a text of its own, of which parts are looked up. */
const longestValue = 12;
/** Words in a row that must stand in a source together, for a part of a long text. */
const shortestRun = 4;
/** Share of a long text that must come from a source. */
const fewestCopied = 0.3;
/** Share of a long text that must stand in the user's text. */
const mostlyUser = 0.5;

const wholeSalt = 0x27d4eb2f;
const compactSalt = 0x165667b1;

/** Origins from the most to the least trusted, for lists and lists within texts. */
const trust = ['user', 'system', 'field', 'model', 'unknown', 'text'] as const;

interface Found {
  readonly rank: (typeof trust)[number];
  /** Number of the source for `field` and `text`. */
  readonly source: number;
}

const words = new Words();
/** Classes in which each word of a value stands, by position. */
let classes = new Uint8Array(256);
const standsWithin = 4;
const standsInText = 8;

/** Remembers the texts and results of one session, and finds out where arguments came from. */
export class OriginTracker {
  readonly #memory: PhraseMemory;
  /** Calls by the number of their source. */
  readonly #calls = new Map<number, TracedCall>();
  /** Digests of the texts that are remembered, because adapters pass whole conversations again and again. */
  readonly #texts = new Set<string>();
  /** `true` if a text or a result was not read in full. */
  #isPartial = false;

  /** @param maxBytes - limit of the memory, in bytes */
  constructor(maxBytes: number) {
    this.#memory = new PhraseMemory(maxBytes);
  }

  /** Memory in use, in bytes. */
  get bytes(): number {
    return this.#memory.bytes;
  }

  /** Remembers a text of the user. */
  userText(text: string): void {
    this.#addText(text, inUserText);
  }

  /** Remembers the system prompt, or a text that the developer wrote. */
  systemText(text: string): void {
    this.#addText(text, inSystemText);
  }

  /** Remembers the result of a call. */
  result(call: TracedCall, result: unknown, trace: Trace | undefined): void {
    const source = this.#memory.beginSource();
    this.#calls.set(source, call);
    const oldest = this.#memory.oldestSource;
    for (const known of this.#calls.keys()) {
      if (known >= oldest) break;
      this.#calls.delete(known);
    }
    const reader = new ValueReader(maxTextCharacters);
    reader.read(structured(result), (text, path) => this.#addResultText(text, path, trace?.phrases));
    if (reader.isPartial) this.#isPartial = true;
  }

  /** Finds out where the arguments of a call came from. */
  trace(args: unknown): Trace {
    const origins: Record<string, Found> = Object.create(null);
    const phrases = new Set<number>();
    let paths = 0;
    const reader = new ValueReader(maxArgumentCharacters);
    reader.read(args, (text, path) => {
      const found = this.#find(text, path, phrases);
      if (found === undefined || path.length > maxPathLength) return;
      const known = origins[path];
      if (known === undefined) {
        if (paths === maxPaths) return;
        paths += 1;
        origins[path] = found;
      } else if (trust.indexOf(found.rank) > trust.indexOf(known.rank)) origins[path] = found;
    });
    const described = Object.entries(origins).map(([path, found]) => [path, this.#describe(found)] as const);
    return { origins: Object.fromEntries(described), phrases };
  }

  #describe({ rank, source }: Found): ArgumentOrigin {
    if (rank !== 'field' && rank !== 'text') return { from: rank };
    const call = this.#calls.get(source);
    return {
      from: 'tool',
      as: rank,
      ...(call && { toolName: call.toolName }),
      ...(call?.eventId && { eventId: call.eventId }),
    };
  }

  #addText(text: string, bits: number): void {
    if (text === '' || !this.#isNew(text, bits)) return;
    words.count = 0;
    readWords(text.length > maxTextCharacters ? text.slice(0, maxTextCharacters) : text, words);
    if (text.length > maxTextCharacters) this.#isPartial = true;
    numberMonths(words);
    const memory = this.#memory;
    forEachPhrase((hash) => memory.addText(hash, bits));
  }

  #isNew(text: string, bits: number): boolean {
    const name = digest('sha256', `${secret}${bits}${text}`);
    if (this.#texts.has(name)) return false;
    if (this.#texts.size >= maxTexts) this.#texts.clear();
    this.#texts.add(name);
    return true;
  }

  #addResultText(text: string, path: string, own: ReadonlySet<number> | undefined): void {
    const memory = this.#memory;
    readSegments(text, (segment, isField, key) => {
      const name = nameWords(key ?? path).at(-1);
      words.count = 0;
      readWords(segment, words);
      if (words.count === 0) return;
      numberMonths(words);
      const place = isField && isShort() ? withinField : runningText;
      forEachPhrase((hash) => {
        if (own === undefined || !own.has(hash)) memory.addResult(hash, place);
      });
      if (!isField) return;
      const whole = wholeHash(0, words.count);
      if (own === undefined || !own.has(whole)) memory.addResult(whole, wholeField);
      if (name === undefined || isTellable()) return;
      const named = pairHash(name, words.hashes[0] as number);
      if (own === undefined || !own.has(named)) memory.addResult(named, withinField);
    });
  }

  /** Returns where a value stands; undefined for one that is too short to tell. */
  #find(text: string, path: string, phrases: Set<number>): Found | undefined {
    words.count = 0;
    readWords(text, words);
    const { count } = words;
    if (count === 0) return undefined;
    numberMonths(words);
    if (phrases.size < maxPhrases) {
      forEachPhrase((hash) => phrases.add(hash));
      phrases.add(wholeHash(0, count));
    }
    if (!isTellable()) return this.#findNamed(path, phrases);
    if (count > longestValue) return this.#findLong();
    const whole = this.#findShort(0, count);
    if (whole.rank !== 'model' && whole.rank !== 'unknown') return whole;
    return this.#findItems(0, count) ?? whole;
  }

  /** Where a value of one or two characters stands beside its name, such as the 7 of `file_id` in "the file 7". */
  #findNamed(path: string, phrases: Set<number>): Found | undefined {
    const memory = this.#memory;
    let best: Found | undefined;
    for (const name of nameWords(path)) {
      const hash = pairHash(name, words.hashes[0] as number);
      phrases.add(hash);
      const found = memory.find(hash);
      const field = memory.sourceIn(found, withinField);
      const source = field || memory.sourceIn(found, runningText);
      let rank: Found['rank'] | undefined;
      if ((found & inUserText) !== 0) rank = 'user';
      else if ((found & inSystemText) !== 0) rank = 'system';
      else if (source !== 0) rank = field === 0 ? 'text' : 'field';
      if (rank === undefined) continue;
      if (best === undefined || trust.indexOf(rank) < trust.indexOf(best.rank)) best = { rank, source };
    }
    return best;
  }

  /** Where a short value, or an item of a list, stands as a whole. */
  #findShort(start: number, end: number): Found {
    const memory = this.#memory;
    let common = 0xff;
    let withinSource = 0;
    let textSource = 0;
    this.#classify(start, end);
    for (let at = start; at < end; at += 1) {
      if (end - start > 1 && ((words.flags[at] as number) & isZero) !== 0) continue;
      common &= classes[at] as number;
    }
    const compact = compactHash(start, end);
    const compactFound = compact === 0 ? 0 : memory.find(compact);
    if (((common | compactFound) & inUserText) !== 0) return { rank: 'user', source: 0 };
    if (((common | compactFound) & inSystemText) !== 0) return { rank: 'system', source: 0 };
    const field = memory.sourceIn(memory.find(wholeHash(start, end)), wholeField);
    if (field !== 0) return { rank: 'field', source: field };
    withinSource = memory.sourceIn(compactFound, withinField);
    if (withinSource === 0 && (common & standsWithin) !== 0)
      withinSource = this.#sourceOf(start, end, withinField);
    textSource = memory.sourceIn(compactFound, runningText);
    if (textSource === 0 && (common & standsInText) !== 0)
      textSource = this.#sourceOf(start, end, runningText);
    if (withinSource !== 0) return { rank: 'field', source: withinSource };
    if (textSource !== 0) return { rank: 'text', source: textSource };
    return this.#notFound();
  }

  /** Least trusted origin of the items of a value that is a list; undefined if it is none. */
  #findItems(start: number, end: number): Found | undefined {
    let least: Found | undefined;
    let from = start;
    for (let at = start + 1; at <= end; at += 1) {
      if (at < end && ((words.flags[at] as number) & startsItem) === 0) continue;
      if (from === start && at === end) return undefined;
      const found = this.#findShort(from, at);
      if (least === undefined || trust.indexOf(found.rank) > trust.indexOf(least.rank)) least = found;
      from = at;
    }
    return least;
  }

  #findLong(): Found {
    const { count } = words;
    this.#classify(0, count);
    // An address or a number that came out of a tool's text, in words that the model wrote.
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
    const share = (bit: number) => inRuns(bit) / count;
    if (atom?.rank === 'text') return atom;
    const user = share(inUserText);
    if (user >= mostlyUser) return { rank: 'user', source: 0 };
    const text = share(standsInText);
    const within = share(standsWithin);
    if (text >= fewestCopied || within >= fewestCopied) {
      const place = text >= within ? runningText : withinField;
      return { rank: place === runningText ? 'text' : 'field', source: this.#anySource(place) };
    }
    if (share(inSystemText) >= mostlyUser) return { rank: 'system', source: 0 };
    return atom ?? this.#notFound();
  }

  #notFound(): Found {
    return { rank: this.#memory.isIncomplete || this.#isPartial ? 'unknown' : 'model', source: 0 };
  }

  /** Notes for each word in which kinds of texts it stands beside one of its neighbors. */
  #classify(start: number, end: number): void {
    if (classes.length < end) classes = new Uint8Array(end * 2);
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
      before = after;
    }
  }

  #classesOf(found: number): number {
    if (found === 0) return 0;
    let bits = found & 3;
    if (this.#memory.sourceIn(found, withinField) !== 0) bits |= standsWithin;
    if (this.#memory.sourceIn(found, runningText) !== 0) bits |= standsInText;
    return bits;
  }

  /** The newest source in which a phrase of a value stands. */
  #sourceOf(start: number, end: number, place: Place): number {
    const memory = this.#memory;
    const { hashes } = words;
    if (end - start === 1) return memory.sourceIn(memory.find(hashes[start] as number), place);
    let source = 0;
    for (let at = start; at + 1 < end; at += 1) {
      const found = memory.find(pairHash(hashes[at] as number, hashes[at + 1] as number));
      source = Math.max(source, memory.sourceIn(found, place));
    }
    return source;
  }

  #anySource(place: Place): number {
    return this.#sourceOf(0, words.count, place);
  }
}

/** Calls back with the hash of every word, of every pair of neighbors, and of numbers written in groups. */
function forEachPhrase(read: (hash: number) => void): void {
  const { hashes, flags, raw, lengths, count } = words;
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
    const isMore = groupLength > 0 && ((flags[at] as number) & startsItem) === 0;
    group = isMore ? joined(group, raw[at] as number, lengths[at] as number) : (raw[at] as number);
    groupLength = (isMore ? groupLength : 0) + (lengths[at] as number);
    if (groupLength >= 8) read(mix(group ^ compactSalt));
  }
}

/** The values of a result that is JSON as text; else the result itself. */
function structured(result: unknown): unknown {
  if (typeof result !== 'string' || result.length > maxTextCharacters) return result;
  const first = result.trimStart()[0];
  if (first !== '{' && first !== '[') return result;
  try {
    return JSON.parse(result);
  } catch {
    return result;
  }
}

/** Hash of all characters of a value that is a number written in groups; 0 if it is none. */
function compactHash(start: number, end: number): number {
  const { flags, raw, lengths } = words;
  let group = 0;
  let length = 0;
  for (let at = start; at < end; at += 1) {
    if (((flags[at] as number) & hasDigit) === 0) return 0;
    group = at === start ? (raw[at] as number) : joined(group, raw[at] as number, lengths[at] as number);
    length += lengths[at] as number;
  }
  return length >= 8 ? mix(group ^ compactSalt) : 0;
}

function wholeHash(start: number, end: number): number {
  let hash = wholeSalt;
  for (let at = start; at < end; at += 1) {
    if (end - start > 1 && ((words.flags[at] as number) & isZero) !== 0) continue;
    hash = mix(Math.imul(hash, 31) ^ (words.hashes[at] as number));
  }
  return hash;
}

/** `true` if the words say enough to tell where they stand: three letters, or three digits. */
function isTellable(): boolean {
  let length = 0;
  for (let at = 0; at < words.count && length < 3; at += 1) {
    length += Math.max(1, words.lengths[at] as number);
  }
  return length >= 3;
}

/** Number of words of the value that stand in such texts in rows. */
function inRuns(bit: number): number {
  let sum = 0;
  let run = 0;
  for (let at = 0; at <= words.count; at += 1) {
    if (at < words.count && ((classes[at] as number) & bit) !== 0) run += 1;
    else {
      if (run >= shortestRun) sum += run;
      run = 0;
    }
  }
  return sum;
}

/** `true` if the words are so few that a part of them says as much as the whole: at most four between white space. */
function isShort(): boolean {
  if (words.count > 16) return false;
  let separate = 0;
  for (let at = 0; at < words.count; at += 1) {
    if (((words.flags[at] as number) & isGlued) === 0) separate += 1;
  }
  return separate <= 4;
}

const knownNames = new Map<string, readonly number[]>();
const nameBuffer = new Words();

/** Hashes of the words of the last name of a path: `file` and `id` of `rows.fileId`. */
function nameWords(path: string): readonly number[] {
  const known = knownNames.get(path);
  if (known !== undefined) return known;
  nameBuffer.count = 0;
  const name = path.slice(path.lastIndexOf('.') + 1, path.length);
  readWords(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2'), nameBuffer);
  const hashes = [...nameBuffer.hashes.subarray(0, nameBuffer.count)];
  if (knownNames.size >= 1000) knownNames.clear();
  knownNames.set(path, hashes);
  return hashes;
}

/** Reads the texts and numbers in a value, up to limits. */
class ValueReader {
  /** `true` if a part of the value was not read. */
  isPartial = false;
  #characters: number;
  #values = maxValues;

  constructor(maxCharacters: number) {
    this.#characters = maxCharacters;
  }

  read(value: unknown, leaf: (text: string, path: string) => void): void {
    try {
      this.#read(value, '', 0, leaf);
    } catch {
      this.isPartial = true; // a getter or a proxy threw
    }
  }

  #read(value: unknown, path: string, depth: number, leaf: (text: string, path: string) => void): void {
    if (typeof value === 'string') {
      this.#leaf(value, path, leaf);
      return;
    }
    if (typeof value === 'number' || typeof value === 'bigint') {
      this.#leaf(String(value), path, leaf);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (depth > maxDepth || ArrayBuffer.isView(value)) {
      this.isPartial = true;
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        if (!this.#takeValue()) return;
        this.#read(item, path, depth + 1, leaf);
      }
      return;
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') {
      this.#read((toJSON as () => unknown).call(value), path, depth + 1, leaf);
      return;
    }
    for (const key of Object.keys(value)) {
      if (!this.#takeValue()) return;
      const inner = path === '' ? key : `${path}.${key}`;
      this.#read((value as Record<string, unknown>)[key], inner, depth + 1, leaf);
    }
  }

  #takeValue(): boolean {
    this.#values -= 1;
    if (this.#values < 0) this.isPartial = true;
    return this.#values >= 0;
  }

  #leaf(text: string, path: string, leaf: (text: string, path: string) => void): void {
    if (text.length > this.#characters) this.isPartial = true;
    const read = text.length > this.#characters ? text.slice(0, this.#characters) : text;
    this.#characters -= read.length;
    if (read !== '') leaf(read, path === '' ? 'value' : path);
  }
}
