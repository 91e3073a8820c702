import {
  createHash,
  createHmac,
  createSecretKey,
  type Hash,
  type Hmac,
  hash,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exactDigitsOf } from '@actlog/protocol';
import canonicalize from 'canonicalize';
import { configure } from 'safe-stable-stringify';
import {
  Bytes,
  cycleMarker,
  type JsonForm,
  maxArgumentsDepth,
  repeatedMarker,
  sortedInSlices,
  toJsonForm,
  tooDeepMarker,
  unreadableMarker,
} from './json-form.ts';

/** Time that hashing may block the event loop before it yields, in milliseconds. */
const sliceMs = 4;

/**
 * Serializes small plain JSON exactly as RFC 8785 (a test compares it with the canonicalization library), in less than
 * half the time.
 */
const stringifyPlain = configure({ bigint: false, circularValue: Error, deterministic: true });

/** Options of an arguments hash. */
export interface ArgumentsHashOptions {
  /**
   * Makes the hash an HMAC, so that small arguments cannot be guessed without the key. A string or bytes, at least 16;
   * use the same key wherever hashes are compared.
   */
  readonly hashKey?: string | Uint8Array | undefined;
}

/** Hashes arguments with or without a key. */
export class ArgumentsHasher {
  readonly #key: KeyObject | undefined;
  readonly #prefix: string;

  constructor({ hashKey }: ArgumentsHashOptions = {}) {
    this.#key = hashKey === undefined ? undefined : secretKey(hashKey);
    this.#prefix = this.#key ? 'hmac-sha256:' : 'sha256:';
  }

  /** Returns the hash directly if that is fast, otherwise a promise of it that yields to other work meanwhile. */
  hash(args: unknown): string | Promise<string> {
    const small = this.#hashSmall(args);
    if (small !== undefined) return small;
    const digest = this.#createDigest();
    const slices = canonicalSlices(args);
    return feed(digest, slices) ? this.#finish(digest) : this.#hashInTurns(digest, slices);
  }

  /** Returns the hash synchronously, however long it takes. */
  hashSync(args: unknown): string {
    const small = this.#hashSmall(args);
    if (small !== undefined) return small;
    const digest = this.#createDigest();
    for (const slice of canonicalSlices(args)) digest.update(slice, 'utf8');
    return this.#finish(digest);
  }

  #hashSmall(args: unknown): string | undefined {
    try {
      if (!isSmallPlainJson(args, 0)) return undefined;
      const text = stringifyPlain(args) ?? 'null';
      if (!this.#key) return `sha256:${hash('sha256', text)}`;
      return this.#finish(this.#createDigest().update(text, 'utf8'));
    } catch {
      return undefined; // a getter or a proxy threw: the slices handle it
    }
  }

  async #hashInTurns(digest: Hash | Hmac, slices: Iterator<string, void>): Promise<string> {
    do await nextTurn();
    while (!feed(digest, slices));
    return this.#finish(digest);
  }

  #createDigest(): Hash | Hmac {
    return this.#key ? createHmac('sha256', this.#key) : createHash('sha256');
  }

  #finish(digest: Hash | Hmac): string {
    return this.#prefix + digest.digest('hex');
  }
}

/** Creates the key. An invalid key must not produce unkeyed hashes, from which small arguments can be guessed. */
function secretKey(given: string | Uint8Array): KeyObject {
  if (typeof given !== 'string' && !ArrayBuffer.isView(given)) {
    throw new TypeError('hashKey must be a string or bytes: use at least 16, such as 32 random bytes.');
  }
  const length = typeof given === 'string' ? given.length : given.byteLength;
  if (length < 16) {
    throw new RangeError(
      `hashKey has ${length} characters or bytes: use at least 16, such as 32 random bytes.`,
    );
  }
  return typeof given === 'string' ? createSecretKey(given, 'utf8') : createSecretKey(given);
}

/** Feeds slices to the digest until they end (`true`) or the time slice is used up (`false`). */
function feed(digest: Hash | Hmac, slices: Iterator<string, void>): boolean {
  const endsAt = performance.now() + sliceMs;
  let text = '';
  for (;;) {
    const next = slices.next();
    if (!next.done) text += next.value;
    // Most slices are a comma or a name, so batch many into one update. An empty one is a point to yield.
    if (next.done || next.value === '' || text.length >= 4096) {
      digest.update(text, 'utf8');
      text = '';
      if (next.done) return true;
      if (performance.now() >= endsAt) return false;
    }
  }
}

/**
 * Computes the `argumentsHash` of an event: `sha256:` and the SHA-256 of the arguments' canonical JSON (RFC 8785) in
 * hex, or `hmac-sha256:` and its HMAC if a `hashKey` is given. Accepts any value, never rejects because of it, and
 * yields to other work while it hashes large ones. The README describes values that JSON cannot represent.
 *
 * @throws RangeError when `hashKey` has fewer than 16 characters or bytes, TypeError when it is neither
 */
export async function hashArguments(args: unknown, options?: ArgumentsHashOptions): Promise<string> {
  return new ArgumentsHasher(options).hash(args);
}

/**
 * Returns `true` if these arguments have the given `argumentsHash`, for callers that keep the arguments and verify them
 * against the record. Compares in constant time. A keyed hash never matches without its key.
 *
 * @throws RangeError when `hashKey` has fewer than 16 characters or bytes, TypeError when it is neither
 */
export async function matchesArguments(
  argumentsHash: string,
  args: unknown,
  options: ArgumentsHashOptions = {},
): Promise<boolean> {
  const keyed = argumentsHash.startsWith('hmac-sha256:');
  if (keyed && options.hashKey === undefined) return false;
  const expected = Buffer.from(await hashArguments(args, keyed ? options : {}));
  const given = Buffer.from(argumentsHash);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Number of characters of a long string that are escaped at once. */
const stringSlice = 32 * 1024;
/** Number of array elements that are serialized at once if they are small and plain. */
const runLength = 256;
/** Number of bytes of a buffer that are hashed at once. */
const byteSlice = 512 * 1024;
/**
 * Number of characters that objects may add which occur in a value again, over all of their repetitions. Without it, a
 * few objects that refer to each other would be as long as all paths through them.
 */
const maxRepeatedCharacters = 1024 * 1024;
const repeatedText = canonicalize(repeatedMarker) as string;
/** Number of characters that a repetition counts as at least, and for each level above it: the time that it takes. */
const repetitionCost = 64;
const levelCost = 16;

/**
 * Yields the canonical JSON (RFC 8785) of any value in pieces, so that the consumer can yield to other work in between.
 * The canonicalization library serializes small plain parts; this walks only values that are too large for that or that
 * JSON cannot represent. Empty pieces are points to yield.
 */
export function* canonicalSlices(value: unknown): Generator<string, void, void> {
  const walk = new Walk();
  let isEmpty = true;
  for (const slice of slicesOf(value, walk, '')) {
    isEmpty = false;
    if (walk.repetitions > 0) walk.remaining -= slice.length;
    yield slice;
  }
  if (isEmpty) yield 'null';
}

/** State of the serialization of one value. */
class Walk {
  /** The containers around the current value; each twice, as itself and as the result of its `toJSON`. */
  readonly ancestors: object[] = [];
  /** Objects met so far, with whether each has turned out not to be small and plain. */
  readonly seen = new Map<object, { isWalked: boolean }>();
  /** JSON forms of buffers, which take long to hash. */
  readonly bytes = new Map<ArrayBufferLike, Map<string, string>>();
  /** Number of containers around the current value that had been met before. */
  repetitions = 0;
  /** Number of characters that repetitions may still add. */
  remaining = maxRepeatedCharacters;
}

/** Yields `prefix` and the value. Yields nothing and returns `false` if JSON omits the value. */
function* slicesOf(value: unknown, walk: Walk, prefix: string): Generator<string, boolean, void> {
  if (typeof value !== 'object' || value === null) return yield* slicesOfNew(value, walk, prefix);
  const met = walk.seen.get(value);
  if (met === undefined) {
    walk.seen.set(value, { isWalked: false });
    return yield* slicesOfNew(value, walk, prefix);
  }
  if (walk.remaining <= 0) {
    yield prefix + repeatedText;
    return true;
  }
  walk.remaining -= repetitionCost + (levelCost * walk.ancestors.length) / 2;
  walk.repetitions += 1;
  const isYielded = yield* met.isWalked
    ? slicesOfWalked(value, walk, prefix)
    : slicesOfNew(value, walk, prefix);
  walk.repetitions -= 1;
  return isYielded;
}

function* slicesOfNew(value: unknown, walk: Walk, prefix: string): Generator<string, boolean, void> {
  if (!isPlain(value, walk.ancestors.length)) return yield* slicesOfWalked(value, walk, prefix);
  const text = canonicalize(value);
  if (text !== undefined) yield prefix + text;
  return text !== undefined;
}

function* slicesOfWalked(value: unknown, walk: Walk, prefix: string): Generator<string, boolean, void> {
  const { ancestors } = walk;
  const met = walk.seen.get(value as object);
  if (met) met.isWalked = true;
  let form = formOf(value);
  if (form === undefined) return false;
  yield prefix;
  if (typeof form === 'string') yield* slicesOfString(form);
  else if (form === null || typeof form !== 'object') yield canonicalize(form) as string;
  else if (form instanceof Bytes) yield* slicesOfBytes(form, walk);
  else {
    if (ancestors.includes(value as object) || ancestors.includes(form)) form = cycleMarker;
    else if (ancestors.length / 2 >= maxArgumentsDepth) form = tooDeepMarker;
    ancestors.push(value as object, form as object);
    if (Array.isArray(form)) yield* slicesOfArray(form, walk);
    else yield* slicesOfObject(form as Record<string, unknown>, walk);
    ancestors.length -= 2;
  }
  return true;
}

function* slicesOfArray(array: readonly unknown[], walk: Walk): Generator<string, void, void> {
  yield '[';
  for (let start = 0; start < array.length; start += runLength) {
    if (start > 0) yield ',';
    const length = Math.min(runLength, array.length - start);
    const run = Array.from({ length }, (_, index) => read(array, start + index));
    // The run replaces the array, which is the last ancestor.
    if (isPlain(run, walk.ancestors.length - 2)) yield (canonicalize(run) as string).slice(1, -1);
    else yield* slicesOfRun(run, walk);
  }
  yield ']';
}

function* slicesOfRun(run: readonly unknown[], walk: Walk): Generator<string, void, void> {
  let separator = '';
  for (const element of run) {
    yield separator;
    if (!(yield* slicesOf(element, walk, ''))) yield 'null';
    separator = ',';
  }
}

function* slicesOfObject(object: Record<string, unknown>, walk: Walk): Generator<string, void, void> {
  let separator = '{';
  for (const key of yield* sortedInSlices(keysOf(object))) {
    const name = JSON.stringify(key.toWellFormed());
    if (yield* slicesOf(read(object, key), walk, `${separator}${name}:`)) separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* slicesOfString(text: string): Generator<string, void, void> {
  if (text.length <= stringSlice) {
    yield JSON.stringify(text.toWellFormed());
    return;
  }
  yield '"';
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + stringSlice, text.length);
    // Keep surrogate pairs together.
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield JSON.stringify(text.slice(start, end).toWellFormed()).slice(1, -1);
    start = end;
  }
  yield '"';
}

function* slicesOfBytes({ type, view }: Bytes, walk: Walk): Generator<string, void, void> {
  const known = walk.bytes.get(view.buffer) ?? new Map<string, string>();
  walk.bytes.set(view.buffer, known);
  const part = `${type} ${view.byteOffset} ${view.length}`;
  const text = known.get(part);
  if (text !== undefined) {
    yield text;
    return;
  }
  const hash = createHash('sha256');
  for (let offset = 0; offset < view.length; offset += byteSlice) {
    hash.update(view.subarray(offset, offset + byteSlice));
    yield '';
  }
  const sha256 = hash.digest('hex');
  const hashed = canonicalize({ $type: type, byteLength: view.length, sha256 }) as string;
  known.set(part, hashed);
  yield hashed;
}

/**
 * `true` for small, plain JSON. An object counts twice as an ancestor: as itself, and as the result of its `toJSON`.
 */
function isPlain(value: unknown, ancestorCount: number): boolean {
  try {
    return isSmallPlainJson(value, ancestorCount / 2);
  } catch {
    return false; // a getter or a proxy threw
  }
}

function formOf(value: unknown): JsonForm {
  try {
    return toJsonForm(value);
  } catch {
    return unreadableMarker;
  }
}

function read(container: object, key: PropertyKey): unknown {
  try {
    return (container as Record<PropertyKey, unknown>)[key];
  } catch {
    return unreadableMarker;
  }
}

function keysOf(object: object): string[] {
  try {
    return Object.keys(object);
  } catch {
    return [];
  }
}

/** Approximate maximum number of characters that are canonicalized at once: well under a millisecond. */
const maxPlainSize = 32 * 1024;

/**
 * Returns `true` if a value is plain JSON that the canonicalization library accepts at once: finite numbers,
 * well-formed strings, objects without a class or `toJSON`, and overall neither large nor deep nor circular. Visits
 * each node once and stops at the first that does not qualify.
 */
function isSmallPlainJson(value: unknown, depth: number): boolean {
  return remainingAfter(value, maxPlainSize, depth) >= 0;
}

/** Returns the budget left after `value`, or a negative number if it does not qualify. */
function remainingAfter(value: unknown, budget: number, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length <= budget && value.isWellFormed() ? budget - value.length - 2 : -1;
    case 'number':
      return Number.isFinite(value) ? budget - 8 : -1;
    case 'boolean':
    case 'undefined':
      return budget - 5;
    case 'object':
      if (value === null) return budget - 4;
      if (depth >= maxArgumentsDepth) return -1;
      return Array.isArray(value)
        ? remainingAfterArray(value, budget, depth)
        : remainingAfterObject(value, budget, depth);
    default:
      return -1;
  }
}

function remainingAfterArray(array: readonly unknown[], budget: number, depth: number): number {
  let remaining = budget - 2 - array.length;
  // By index, because holes count as null; a cycle ends when the budget is used up.
  for (let index = 0; index < array.length && remaining >= 0; index += 1) {
    remaining = remainingAfter(array[index], remaining, depth + 1);
  }
  return 'toJSON' in array ? -1 : remaining;
}

function remainingAfterObject(object: object, budget: number, depth: number): number {
  const prototype = Object.getPrototypeOf(object);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in object) return -1;
  if (prototype === null && exactDigitsOf(object) !== undefined) return -1;
  let remaining = budget - 2;
  for (const key in object) {
    if (!key.isWellFormed()) return -1;
    remaining = remainingAfter(
      (object as Record<string, unknown>)[key],
      remaining - key.length - 4,
      depth + 1,
    );
    if (remaining < 0) return -1;
  }
  return remaining;
}
