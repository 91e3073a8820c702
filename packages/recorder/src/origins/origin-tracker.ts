import { hash as digest } from 'node:crypto';
import { type ArgumentOrigin, type ArgumentOrigins, limits } from '@actlog/protocol';
import { jsonValue } from '../lib/json-value.ts';
import { processSecret } from '../lib/process-wide.ts';
import { nameWords } from './name-words.ts';
import {
  forEachPhrase,
  inSystemText,
  inUserText,
  isTellable,
  PhraseMemory,
  type Place,
  runningText,
  wholeField,
  wholeHash,
} from './phrase-memory.ts';
import { numberMonths, readWords } from './read-words.ts';
import { endsOf, type LeafReader, partsOfField, readSegments, ValueReader } from './result-segments.ts';
import {
  carriedValues,
  type Found,
  hostsIn,
  isUrl,
  leastTrusted,
  namesHosts,
  notKnown,
  ValueSearch,
} from './value-search.ts';
import { renderedText } from './visible-text.ts';
import { pairHash, Words } from './words.ts';

/** A call whose result is remembered. */
export interface TracedCall {
  readonly toolName: string;
  /** Id of the call's event; undefined if none was recorded. */
  readonly eventId: string | undefined;
}

/** Arguments whose origins were traced. The result of the same call is not a source of their words. */
export interface Trace {
  readonly origins: ArgumentOrigins;
  /** Hashes of the phrases of the arguments, which a result often repeats. */
  readonly phrases: ReadonlySet<number>;
  /** `true` if user text is known. */
  readonly userText: boolean;
}

/** Maximum number of characters to read of a call's arguments, and of a result or a message. */
const maxArgumentCharacters = 64 * 1024;
const maxTextCharacters = 128 * 1024;
/** Maximum number of user and system messages whose digests are kept. */
const maxTexts = 200;

/** Words of the text that is remembered. */
const words = new Words();

/** Remembers the messages and results of one session, and traces where arguments came from. */
export class OriginTracker {
  readonly #memory: PhraseMemory;
  /** Calls by the number of their source. */
  readonly #calls = new Map<number, TracedCall>();
  /** Digests of remembered messages, because adapters pass whole conversations repeatedly. */
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

  /** Remembers what the user wrote. */
  userText(text: string): void {
    this.knowsUser = true;
    this.#addText(text, inUserText);
  }

  /** Remembers the system prompt, or other text that the developer wrote. */
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
    const own = trace?.phrases;
    const isBlock = isContentBlock(result);
    this.#readResult(result, (text, path) => {
      const isWholeText = isBlock && wholePaths.has(path);
      // Parse JSON only if it is the whole text of a result. JSON within a field, such as the body of a mail, is text.
      const inner = isWholeText ? jsonValue(text, maxTextCharacters) : undefined;
      if (inner === undefined) this.#addResultText(text, path, isWholeText, own);
      else this.#readResult(inner, (leaf, name) => this.#addResultText(leaf, name, name === 'value', own));
    });
  }

  #readResult(result: unknown, leaf: LeafReader): void {
    const reader = new ValueReader(maxTextCharacters);
    reader.read(result, leaf);
    if (reader.isPartial) this.#search.isPartial = true;
  }

  /** Traces where the arguments of a call came from. */
  trace(args: unknown): Trace {
    const origins: Record<string, Found> = Object.create(null);
    const phrases = new Set<number>();
    let paths = 0;
    const add = (path: string, found: Found) => {
      const known = origins[path];
      if (known === undefined) {
        if (paths === limits.maxArgumentOrigins) return;
        paths += 1;
        origins[path] = found;
      } else origins[path] = leastTrusted(known, found);
    };
    const reader = new ValueReader(maxArgumentCharacters);
    reader.read(args, (text, path, isPartial) => {
      let found = this.#search.find(text, path, phrases);
      if (found === undefined || path.length > limits.maxArgumentPathLength) return;
      if (isPartial && found.rank === 'model') found = notKnown;
      add(path, found);
      this.#traceParts(text, path, add);
    });
    const described = Object.entries(origins).map(([path, found]) => [path, this.#describe(found)] as const);
    return { origins: Object.fromEntries(described), phrases, userText: this.knowsUser };
  }

  /**
   * Traces the hosts of commands and code, and the parts of a URL that was put together, under separate paths:
   * `command.host`, `url.host`, `url.segment`, `url.query`.
   */
  #traceParts(text: string, path: string, add: (path: string, found: Found) => void): void {
    const isAddress = isUrl(text);
    if (!isAddress && !namesHosts(path)) return;
    if (isAddress && this.#search.standsWhole(text)) return;
    let hostSource = 0;
    for (const host of hostsIn(text)) {
      const found = this.#search.find(host, 'host', new Set());
      if (found === undefined || !isFromTool(found)) continue;
      add(`${path}.host`, found);
      hostSource = found.source;
    }
    if (!isAddress || hostSource === 0) return;
    for (const { part, value } of carriedValues(text)) {
      const found = this.#search.find(value, '', new Set());
      if (found !== undefined && isFromTool(found) && found.source !== hostSource)
        add(`${path}.${part}`, found);
    }
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
    if (text.length > maxTextCharacters) this.#search.isPartial = true;
    const read = endsOf(text, maxTextCharacters);
    const memory = this.#memory;
    for (const shown of [read, renderedText(read)]) {
      if (shown === undefined) continue;
      words.count = 0;
      readWords(shown, words);
      numberMonths(words);
      forEachPhrase(words, (hash) => memory.addText(hash, bits));
    }
  }

  /**
   * Remembers user text of this session that an agent wrote in another session, such as the prompt of a sub-agent.
   * Words that the agent copied from results there come from those results here. Only words of its user are the user's.
   */
  inheritedText(text: string, parent: OriginTracker): void {
    if (parent === this || text === '' || !this.#isNew(text, inUserText)) return;
    const read = endsOf(text, maxTextCharacters);
    words.count = 0;
    readWords(read, words);
    numberMonths(words);
    const known = parent.#memory;
    const copied: number[] = [];
    let newest = 0;
    forEachPhrase(words, (hash) => {
      const found = known.find(hash);
      if ((found & inUserText) !== 0) this.#memory.addText(hash, inUserText);
      else if ((found & inSystemText) !== 0) this.#memory.addText(hash, inSystemText);
      else {
        const source = known.sourceIn(found, runningText) || known.sourceIn(found, wholeField);
        if (source === 0) return;
        copied.push(hash);
        newest = Math.max(newest, source);
      }
    });
    const call = parent.#calls.get(newest);
    if (copied.length === 0 || call === undefined) return;
    this.#calls.set(this.#memory.beginSource(), call);
    for (const hash of copied) this.#memory.addResult(hash, runningText);
  }

  /** `true` once user text is known. */
  knowsUser = false;

  /** `true` for text that the user wrote. */
  isUserText(text: string): boolean {
    return this.#texts.has(nameOf(text, inUserText));
  }

  #isNew(text: string, bits: number): boolean {
    const name = nameOf(text, bits);
    if (this.#texts.has(name)) return false;
    if (this.#texts.size >= maxTexts) this.#texts.clear();
    this.#texts.add(name);
    return true;
  }

  /** Remembers text of a result, with its lines as fields if it is everything that a model sees. */
  #addResultText(text: string, path: string, isWhole: boolean, own: ReadonlySet<number> | undefined): void {
    if (isWhole)
      readSegments(text, (segment, isField, name) => this.#addSegment(segment, isField, name, own));
    else this.#addSegment(text, !text.includes('\n'), path, own);
  }

  #addSegment(
    text: string,
    isField: boolean,
    name: string | undefined,
    own: ReadonlySet<number> | undefined,
  ): void {
    this.#addWords(text, isField, name, own);
    const parts = isField ? partsOfField(text) : [];
    for (const part of parts) this.#addWords(part, true, name, own);
    const rendered = renderedText(text);
    if (rendered !== undefined) this.#addWords(rendered, isField && parts.length === 0, name, own);
  }

  #addWords(
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

/** Paths of whole texts: the result, a block of content (MCP, "Tool Result"), what Claude Code printed or read. */
const wholePaths = new Set(['value', 'text', 'content', 'content.text', 'stdout', 'file.content']);

function nameOf(text: string, bits: number): string {
  return digest('sha256', `${processSecret()}${bits}${text}`, 'base64').slice(0, 22);
}

/** Properties of a block of content, of a tool message or of a command's end, beside its text. */
const blockKeys: ReadonlySet<string> = new Set(
  '_meta additional_kwargs annotations artifact content exit_code exitCode file id interrupted isError isImage is_error kwargs lc metadata mimeType name noOutputExpected response_metadata returnCodeInterpretation role status stderr stdout structuredContent text tool_call_id toolCallId toolName type'.split(
    ' ',
  ),
);

/**
 * `true` for a string or for content blocks, but not for a record that has a `text` or `content` beside other fields.
 */
function isContentBlock(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return true;
  const blocks: readonly unknown[] = Array.isArray(result) ? result.slice(0, 20) : [result];
  return blocks.every(
    (block) =>
      typeof block !== 'object' || block === null || Object.keys(block).every((key) => blockKeys.has(key)),
  );
}

function isFromTool({ rank }: Found): boolean {
  return rank === 'text' || rank === 'field';
}
