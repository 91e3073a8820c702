import { Readable } from 'node:stream';
import { types } from 'node:util';
import { exactDigitsOf } from '@actlog/protocol';

/** Replacement for a hash that could not be computed; it matches no arguments. */
export const noHash = 'sha256:unavailable';

/** Number of keys sorted at once: about a millisecond. */
const runLength = 4096;

/**
 * Sorts property names by UTF-16 code units (RFC 8785, section 3.2.3) in steps: sorts runs with `Array.prototype.sort`
 * and then merges them.
 */
export function* sortedInSlices(keys: string[]): Generator<string, string[], void> {
  if (keys.length <= runLength) return keys.sort();
  let runs: string[][] = [];
  for (let start = 0; start < keys.length; start += runLength) {
    runs.push(keys.slice(start, start + runLength).sort());
    yield '';
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* mergeRuns(runs[index] as string[], runs[index + 1] ?? []));
    }
    runs = merged;
  }
  return runs[0] as string[];
}

function* mergeRuns(left: string[], right: string[]): Generator<string, string[], void> {
  const merged: string[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length && fromRight < right.length) {
    const isLeft = (left[fromLeft] as string) <= (right[fromRight] as string);
    const next = isLeft ? left[fromLeft++] : right[fromRight++];
    if (merged.push(next as string) % runLength === 0) yield '';
  }
  for (; fromLeft < left.length; fromLeft += 1) merged.push(left[fromLeft] as string);
  for (; fromRight < right.length; fromRight += 1) merged.push(right[fromRight] as string);
  return merged;
}

/** Maximum nesting of arguments; deeper values are replaced by a marker. */
export const maxArgumentsDepth = 512;

/** Raw bytes: hashed as bytes, not as a list of numbers. */
export class Bytes {
  /** Type of the buffer, such as `Uint8Array` (also for a Node.js Buffer). */
  readonly type: string;
  readonly view: Uint8Array;

  constructor(type: string, view: Uint8Array) {
    this.type = type;
    this.view = view;
  }
}

/** A value that JSON can represent at its top level; its children are still unconverted. */
export type JsonForm = null | boolean | number | string | undefined | readonly unknown[] | object | Bytes;

/** Creates a placeholder for a value that JSON cannot represent. */
function marker(type: string, rest?: Record<string, unknown>): object {
  return { $type: type, ...rest };
}

/** Placeholder for a container inside itself. */
export const cycleMarker: object = marker('Cycle');
/** Placeholder for an object that occurs again, where its repetitions have become too long. */
export const repeatedMarker: object = marker('Repeated');
/** Placeholder for values below the maximum depth. */
export const tooDeepMarker: object = marker('TooDeep');
/** Placeholder for a property whose getter throws. */
export const unreadableMarker: object = marker('Unreadable');

/**
 * Converts any JavaScript value in arguments, one level at a time. Values that `JSON.stringify` supports are
 * converted as it does; all others become an object with a `$type`:
 *
 * | value | becomes |
 * |---|---|
 * | `undefined`, function, symbol | omitted from objects, `null` in arrays and at the top level |
 * | NaN, infinities | `{"$type":"Number","value":"NaN"}` |
 * | BigInt | `{"$type":"BigInt","value":"12"}` |
 * | number of `JSON.rawJSON` | the same for an integer, otherwise `{"$type":"Number","value":"0.10"}` |
 * | string with lone surrogates | the same with U+FFFD instead |
 * | anything with `toJSON()`, such as Date or URL | its result |
 * | Map, Set | `{"$type":"Map","entries":[…]}`, `{"$type":"Set","values":[…]}`, in iteration order |
 * | FormData, Headers, URLSearchParams | `{"$type":"FormData","entries":[…]}`, in iteration order |
 * | Buffer, typed array, ArrayBuffer, DataView | `{"$type":"Uint8Array","byteLength":3,"sha256":"…"}` |
 * | Blob, File | `{"$type":"Blob","size":3,"type":"text/plain"}` |
 * | stream, async iterable | `{"$type":"Stream"}`, without reading it |
 * | Error | `{"$type":"Error","name":"…","message":"…"}` |
 * | RegExp | `{"$type":"RegExp","value":"/a/g"}` |
 * | any other class instance | its own enumerable properties |
 * | a container inside itself | `{"$type":"Cycle"}` |
 * | an object again, after 1 Mi characters of such repetitions | `{"$type":"Repeated"}` |
 * | deeper than 512 levels | `{"$type":"TooDeep"}` |
 * | a property that throws | `{"$type":"Unreadable"}` |
 */
export function toJsonForm(value: unknown): JsonForm {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : marker('Number', { value: String(value) });
    case 'bigint':
      return marker('BigInt', { value: String(value) });
    case 'object':
      return value === null ? null : formOfObject(value);
    default:
      return undefined;
  }
}

function formOfObject(object: object): JsonForm {
  const bytes = bytesOf(object);
  if (bytes) return bytes;
  const digits = exactDigitsOf(object);
  if (digits !== undefined) return marker(/^-?\d+$/.test(digits) ? 'BigInt' : 'Number', { value: digits });
  const toJSON = (object as { toJSON?: unknown }).toJSON;
  if (typeof toJSON === 'function') {
    const converted: unknown = toJSON.call(object, '');
    // Like `JSON.stringify`, call `toJSON` only once, not on its result.
    return typeof converted === 'object' && converted !== null
      ? structureOf(converted)
      : toJsonForm(converted);
  }
  return structureOf(object);
}

/**
 * Lists of names and values whose entries are not properties. Recognized by their tags, because undici exports other
 * classes than Node's globals.
 */
const entryLists: ReadonlySet<unknown> = new Set(['FormData', 'Headers', 'URLSearchParams']);

/** Returns the JSON form of an object. The checks of `types` also work across realms, such as a `vm` context. */
function structureOf(object: object): JsonForm {
  if (Array.isArray(object)) return object;
  if (types.isBoxedPrimitive(object)) return toJsonForm(object.valueOf());
  if (types.isMap(object) || object instanceof Map) return marker('Map', { entries: [...object] });
  if (types.isSet(object) || object instanceof Set) return marker('Set', { values: [...object] });
  if (types.isNativeError(object) || object instanceof Error) {
    return marker('Error', { name: object.name, message: object.message });
  }
  if (types.isRegExp(object)) return marker('RegExp', { value: String(object) });
  if (object instanceof Blob) return marker('Blob', { size: object.size, type: object.type });
  const tag = (object as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  if (entryLists.has(tag) && Symbol.iterator in object) {
    return marker(String(tag), { entries: [...(object as Iterable<unknown>)] });
  }
  if (object instanceof Readable || Symbol.asyncIterator in object) return marker('Stream');
  return object;
}

function bytesOf(object: object): Bytes | undefined {
  if (ArrayBuffer.isView(object)) {
    const type = (object as Uint8Array)[Symbol.toStringTag];
    return new Bytes(type, new Uint8Array(object.buffer, object.byteOffset, object.byteLength));
  }
  if (types.isAnyArrayBuffer(object)) {
    return new Bytes(object[Symbol.toStringTag], new Uint8Array(object));
  }
  return undefined;
}
