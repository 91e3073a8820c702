import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  Bytes,
  cycleMarker,
  type JsonForm,
  toJsonForm,
  tooDeepMarker,
  unreadableMarker,
} from './json-form.ts';
import { isSmallPlainJson, maxArgumentsDepth } from './plain-json.ts';
import { sortedInSlices } from './sorted-keys.ts';

/** Number of characters of a long string that are escaped at once. */
const stringSlice = 32 * 1024;
/** Number of array elements that are serialized at once if they are small and plain. */
const runLength = 256;
/** Number of bytes of a buffer that are hashed at once. */
const byteSlice = 512 * 1024;

/**
 * Yields the canonical JSON (RFC 8785) of any value in pieces, so that the consumer can yield to other work in between.
 * The canonicalization library serializes small plain parts; this walks only values that are too large for that or that
 * JSON cannot represent. Empty pieces are points to yield.
 */
export function* canonicalSlices(value: unknown): Generator<string, void, void> {
  if (!(yield* slicesOf(value, [], ''))) yield 'null';
}

/** Yields `prefix` and the value. Returns `false`, having yielded nothing, if JSON omits the value. */
function* slicesOf(value: unknown, ancestors: object[], prefix: string): Generator<string, boolean, void> {
  if (isPlain(value, ancestors.length)) {
    const text = canonicalize(value);
    if (text !== undefined) yield prefix + text;
    return text !== undefined;
  }
  let form = formOf(value);
  if (form === undefined) return false;
  yield prefix;
  if (typeof form === 'string') yield* slicesOfString(form);
  else if (form === null || typeof form !== 'object') yield canonicalize(form) as string;
  else if (form instanceof Bytes) yield* slicesOfBytes(form);
  else {
    if (ancestors.includes(value as object) || ancestors.includes(form)) form = cycleMarker;
    else if (ancestors.length / 2 >= maxArgumentsDepth) form = tooDeepMarker;
    ancestors.push(value as object, form as object);
    if (Array.isArray(form)) yield* slicesOfArray(form, ancestors);
    else yield* slicesOfObject(form as Record<string, unknown>, ancestors);
    ancestors.length -= 2;
  }
  return true;
}

function* slicesOfArray(array: readonly unknown[], ancestors: object[]): Generator<string, void, void> {
  yield '[';
  for (let start = 0; start < array.length; start += runLength) {
    if (start > 0) yield ',';
    const length = Math.min(runLength, array.length - start);
    const run = Array.from({ length }, (_, index) => read(array, start + index));
    // The run replaces the array, which is the last ancestor.
    if (isPlain(run, ancestors.length - 2)) yield (canonicalize(run) as string).slice(1, -1);
    else yield* slicesOfRun(run, ancestors);
  }
  yield ']';
}

function* slicesOfRun(run: readonly unknown[], ancestors: object[]): Generator<string, void, void> {
  let separator = '';
  for (const element of run) {
    yield separator;
    if (!(yield* slicesOf(element, ancestors, ''))) yield 'null';
    separator = ',';
  }
}

function* slicesOfObject(
  object: Record<string, unknown>,
  ancestors: object[],
): Generator<string, void, void> {
  let separator = '{';
  for (const key of yield* sortedInSlices(keysOf(object))) {
    const name = JSON.stringify(key.toWellFormed());
    if (yield* slicesOf(read(object, key), ancestors, `${separator}${name}:`)) separator = ',';
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

function* slicesOfBytes({ type, view }: Bytes): Generator<string, void, void> {
  const hash = createHash('sha256');
  for (let offset = 0; offset < view.length; offset += byteSlice) {
    hash.update(view.subarray(offset, offset + byteSlice));
    yield '';
  }
  const sha256 = hash.digest('hex');
  yield canonicalize({ $type: type, byteLength: view.length, sha256 }) as string;
}

/** Each object counts twice among the ancestors: as itself, and as the result of its `toJSON`. */
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
