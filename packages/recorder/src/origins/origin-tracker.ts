import { hash as digest } from 'node:crypto';
import { type ArgumentOrigin, type ArgumentOrigins, limits } from '@actlog/protocol';
import { jsonValue } from '../lib/json-value.ts';
import { processSecret } from '../lib/process-secret.ts';
import { nameWords } from './name-words.ts';
import {
  inSystemText,
  inUserText,
  PhraseMemory,
  type Place,
  runningText,
  wholeField,
} from './phrase-memory.ts';
import { forEachPhrase, isTellable, wholeHash } from './phrases.ts';
import { numberMonths, readWords } from './read-words.ts';
import { readSegments } from './result-segments.ts';
import { endsOf, type LeafReader, ValueReader } from './value-reader.ts';
import { type Found, leastTrusted, notKnown, ValueSearch } from './value-search.ts';
import { pairHash, Words } from './words.ts';

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

/** Maximum number of characters that are read of a call's arguments, and of a result or another text. */
const maxArgumentCharacters = 64 * 1024;
const maxTextCharacters = 128 * 1024;
/** Maximum number of texts whose digests are kept. */
const maxTexts = 200;

/** Words of the text that is remembered. */
const words = new Words();

/** Remembers the texts and results of one session, and finds out where arguments came from. */
export class OriginTracker {
  readonly #memory: PhraseMemory;
  /** Calls by the number of their source. */
  readonly #calls = new Map<number, TracedCall>();
  /** Digests of the texts that are remembered, because adapters pass whole conversations again and again. */
  readonly #texts = new Set<string>();
  readonly #search: ValueSearch;

  /** @param maxBytes - limit of the memory, in bytes */
  constructor(maxBytes: number) {
    this.#memory = new PhraseMemory(maxBytes);
    this.#search = new ValueSearch(this.#memory);
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
    this.#readResult(result, (text, path) => {
      const inner = jsonValue(text, maxTextCharacters);
      const read = (leaf: string, name: string) => this.#addResultText(leaf, name, trace?.phrases);
      // JSON as text, also within a content block.
      if (inner === undefined) read(text, path);
      else this.#readResult(inner, read);
    });
  }

  #readResult(result: unknown, leaf: LeafReader): void {
    const reader = new ValueReader(maxTextCharacters);
    reader.read(result, leaf);
    if (reader.isPartial) this.#search.isPartial = true;
  }

  /** Finds out where the arguments of a call came from. */
  trace(args: unknown): Trace {
    const origins: Record<string, Found> = Object.create(null);
    const phrases = new Set<number>();
    let paths = 0;
    const reader = new ValueReader(maxArgumentCharacters);
    reader.read(args, (text, path, isPartial) => {
      let found = this.#search.find(text, path, phrases);
      if (found === undefined || path.length > limits.maxArgumentPathLength) return;
      if (isPartial && found.rank === 'model') found = notKnown;
      const known = origins[path];
      if (known === undefined) {
        if (paths === limits.maxArgumentOrigins) return;
        paths += 1;
        origins[path] = found;
      } else origins[path] = leastTrusted(known, found);
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
    readWords(endsOf(text, maxTextCharacters), words);
    if (text.length > maxTextCharacters) this.#search.isPartial = true;
    numberMonths(words);
    const memory = this.#memory;
    forEachPhrase(words, (hash) => memory.addText(hash, bits));
  }

  #isNew(text: string, bits: number): boolean {
    const name = digest('sha256', `${processSecret()}${bits}${text}`, 'base64').slice(0, 22);
    if (this.#texts.has(name)) return false;
    if (this.#texts.size >= maxTexts) this.#texts.clear();
    this.#texts.add(name);
    return true;
  }

  /** Remembers a text of a result, with its lines as fields if it is the whole of what a model sees. */
  #addResultText(text: string, path: string, own: ReadonlySet<number> | undefined): void {
    if (isWhole(path))
      readSegments(text, (segment, isField, name) => this.#addSegment(segment, isField, name, own));
    else this.#addSegment(text, !text.includes('\n'), path, own);
  }

  #addSegment(
    text: string,
    isField: boolean,
    name: string | undefined,
    own: ReadonlySet<number> | undefined,
  ): void {
    const memory = this.#memory;
    words.count = 0;
    readWords(text, words);
    if (words.count === 0) return;
    numberMonths(words);
    const add = (hash: number, place: Place) => {
      if (own === undefined || !own.has(hash)) memory.addResult(hash, place);
    };
    forEachPhrase(words, (hash) => add(hash, runningText));
    if (!isField) return;
    add(wholeHash(words, 0, words.count), wholeField);
    const nameHash = name === undefined || isTellable(words) ? undefined : nameWords(name).at(-1);
    if (nameHash !== undefined) add(pairHash(nameHash, words.hashes[0] as number), wholeField);
  }
}

/** Paths of results that are texts: the result itself, or a block of content (Model Context Protocol, "Tool Result"). */
const wholePaths: ReadonlySet<string> = new Set(['value', 'text', 'content', 'content.text']);

/** `true` for a text that is not a field of a record: within one, lines of `key: value` may be anyone's. */
function isWhole(path: string): boolean {
  return wholePaths.has(path);
}
