import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  Bytes,
  cycleMarker,
  isSmallPlainJson,
  type JsonForm,
  maxArgumentsDepth,
  repeatedMarker,
  sortedInSlices,
  toJsonForm,
  tooDeepMarker,
  unreadableMarker,
} from './json-form.ts';

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
