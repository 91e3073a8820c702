import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs/light.js';
import { inspectJson, parsedBytes } from '../http/request-input.ts';
import { validationError } from '../lib/api-error.ts';
import type { Turn } from '../lib/tenant-turns.ts';
import {
  type DecodingMemory,
  type EncodedSpan,
  maxTextBytes,
  notJson,
  notProtobuf,
  tooLong,
} from './encoded-span.ts';
import { exportRequest, type Fields, fieldsOf, listOf } from './request-shape.ts';

/** Upper bound for the memory of a byte of text, and of one decoded value. */
const textBytes = 4;
const valueBytes = 96;

const wireTypes: Readonly<Record<string, number>> = protobuf.types.basic;

/** Number of messages after which other work gets a turn. */
const sliceLength = 10_000;

const [resourceSpansId, resourceId, scopeSpansId, scopeId, spansId] = [1, 1, 2, 1, 2];
const resourceSpansType = exportRequest.root.lookupType('ResourceSpans');
const scopeSpansType = exportRequest.root.lookupType('ScopeSpans');

/** Place of a message in the body. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Yields the spans of a request in protobuf; undefined from time to time, when other work should get a turn.
 *
 * @throws ApiError `VALIDATION_ERROR` for bytes that are not protobuf, and the errors of the memory
 */
export function* protobufSpans(bytes: Buffer, memory: DecodingMemory): Generator<EncodedSpan | undefined> {
  let passed = 0;
  function* messages(within: Range, id: number): Generator<Range> {
    for (const range of fieldsIn(bytes, within, id)) {
      passed += 1;
      yield range;
    }
  }
  const decode = (type: protobuf.Type, id: number, range: Range | undefined): unknown => {
    const inner = type.fieldsById[id]?.resolvedType;
    if (!range || !(inner instanceof protobuf.Type)) return undefined;
    return decodedMessage(bytes, inner, range, memory);
  };
  for (const resourceSpans of messages({ from: 0, to: bytes.length }, resourceSpansId)) {
    const resource = decode(resourceSpansType, resourceId, last(fieldsIn(bytes, resourceSpans, resourceId)));
    for (const scopeSpans of messages(resourceSpans, scopeSpansId)) {
      const scope = decode(scopeSpansType, scopeId, last(fieldsIn(bytes, scopeSpans, scopeId)));
      for (const span of messages(scopeSpans, spansId)) {
        memory.holdSpans(1);
        yield { resource, scope, decode: () => decode(scopeSpansType, spansId, span) };
        if (passed < sliceLength) continue;
        passed = 0;
        yield undefined;
      }
    }
  }
}

/** Yields the places of the messages of one field, without reading them. */
function* fieldsIn(bytes: Buffer, { from, to }: Range, id: number): Generator<Range> {
  const reader = protobuf.Reader.create(bytes.subarray(0, to));
  reader.pos = from;
  while (reader.pos < to) {
    const range = whole(() => {
      const tag = reader.uint32();
      if (tag >>> 3 !== id || (tag & 7) !== 2) {
        reader.skipType(tag & 7);
        return undefined;
      }
      const length = reader.uint32();
      const start = reader.pos;
      reader.skip(length);
      return { from: start, to: start + length };
    });
    if (range) yield range;
  }
}

function decodedMessage(bytes: Buffer, type: protobuf.Type, range: Range, memory: DecodingMemory): unknown {
  const reader = () => {
    const created = protobuf.Reader.create(bytes.subarray(0, range.to));
    created.pos = range.from;
    return created;
  };
  memory.need(whole(() => sizeOf(reader(), type, range.to, 0)));
  return whole(() => messageOf(reader(), type, range.to));
}

/** Returns an upper bound for the memory of a message, without decoding it. */
function sizeOf(reader: protobuf.Reader, type: protobuf.Type, end: number, depth: number): number {
  if (depth > protobuf.Reader.recursionLimit) throw new RangeError('The message is nested too deeply.');
  let size = valueBytes;
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = type.fieldsById[tag >>> 3];
    const inner = field?.resolvedType;
    if ((tag & 7) !== 2) {
      size += field ? valueBytes : 0;
      reader.skipType(tag & 7);
      continue;
    }
    const length = reader.uint32();
    if (reader.pos + length > end) throw new RangeError('A message is longer than the one around it.');
    if (inner instanceof protobuf.Type) {
      size += sizeOf(reader, inner, reader.pos + length, depth + 1);
    } else {
      size += field ? valueBytes + (length > maxTextBytes ? 0 : length * textBytes) : 0;
      reader.skip(length);
    }
  }
  return size;
}

/** Decodes a message whose size was determined. Texts that are too long are skipped. */
function messageOf(reader: protobuf.Reader, type: protobuf.Type, end: number): object {
  const message: Record<string, unknown> = Object.create(null);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = type.fieldsById[tag >>> 3];
    if (!field) {
      reader.skipType(tag & 7);
      continue;
    }
    const value = fieldValue(reader, field, tag & 7);
    if (!field.repeated) message[field.name] = value;
    else if (Array.isArray(message[field.name])) (message[field.name] as unknown[]).push(value);
    else message[field.name] = [value];
  }
  return message;
}

function fieldValue(
  reader: protobuf.Reader,
  { type, resolvedType }: protobuf.Field,
  wireType: number,
): unknown {
  if (resolvedType instanceof protobuf.Type) {
    if (wireType !== 2) throw new RangeError(`A message has the wire type ${wireType}.`);
    const length = reader.uint32();
    return messageOf(reader, resolvedType, reader.pos + length);
  }
  if (wireType !== wireTypes[type]) throw new RangeError(`A field has the wire type ${wireType}.`);
  if (type !== 'string' && type !== 'bytes')
    return (reader as unknown as Record<string, () => unknown>)[type]?.();
  const start = reader.pos;
  const length = reader.uint32();
  if (length > maxTextBytes) {
    reader.skip(length);
    return tooLong;
  }
  reader.pos = start;
  return type === 'string' ? reader.string() : reader.bytes();
}

function last<T>(items: Iterable<T>): T | undefined {
  let found: T | undefined;
  for (const item of items) found = item;
  return found;
}

/** Returns the result of reading protobuf. @throws ApiError if it is not */
function whole<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw notProtobuf();
  }
}

/** Maximum nesting of a JSON body. Each level of a structured attribute takes four; protobuf allows about as much. */
const maxJsonDepth = 128;

/** Names of the lists around a span, outermost first, and the depth of a span in them. */
const lists = ['resourceSpans', 'scopeSpans', 'spans'];
const spanDepth = 2 * lists.length;

/** Bytes after which other work gets a turn. */
const sliceBytes = 256 * 1024;

const [quote, backslash, colon, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\:[]{}');
const longText = Buffer.from(JSON.stringify(tooLong));

/** A part of the body, and the texts in it that are too long to be read. */
interface Slice {
  readonly from: number;
  readonly to: number;
  readonly longTexts: readonly Omit<Slice, 'longTexts'>[];
}

/**
 * Yields the spans of a request in JSON. The body is parsed without them, and each of them when it is decoded.
 *
 * @throws ApiError `VALIDATION_ERROR` for a body that is not JSON or has another shape, and the errors of the memory
 */
export async function* jsonSpans(
  bytes: Buffer,
  memory: DecodingMemory,
  turn: Turn,
): AsyncGenerator<EncodedSpan> {
  if (!isUtf8(bytes)) throw notJson('is not UTF-8');
  const { frame, spans } = await cutSpans(bytes, turn);
  memory.holdSpans(spans.length);
  // The bytes of the body are held already.
  memory.hold(parsedBytes(frame) - frame.length);
  const path = lists[0] ?? '';
  const request = fieldsOf(parsed(frame), '');
  refuseOtherNames(request, 'resourceSpans', '');
  for (const resourceSpans of listOf(request.resourceSpans, path)) {
    const ofResource = fieldsOf(resourceSpans, path);
    refuseOtherNames(ofResource, 'scopeSpans', `${path}.`);
    const { resource, scopeSpans } = ofResource;
    for (const ofScope of listOf(scopeSpans, `${path}.scopeSpans`)) {
      const { scope, spans: places } = fieldsOf(ofScope, `${path}.scopeSpans`);
      for (const place of listOf(places, `${path}.scopeSpans.spans`)) {
        const slice = Array.isArray(place) ? spans[place[0]] : undefined;
        const decode = () => (slice ? decoded(bytes, slice, memory) : place);
        yield { resource, scope, decode };
      }
    }
  }
}

/**
 * Refuses a list of spans under another name, such as in snake case or of an old version of OTLP: its spans would be
 * lost without a word, because unknown fields are ignored.
 */
function refuseOtherNames(fields: Fields, name: string, path: string): void {
  if (fields[name] !== undefined || !Object.keys(fields).some((other) => /spans$/i.test(other))) return;
  throw validationError(
    path + name,
    'required',
    'is missing, but there are spans under another name; name fields as OTLP 1.0 does in JSON',
  );
}

/** Returns the body with a list of its number instead of each span, and the places of the spans. */
async function cutSpans(bytes: Buffer, turn: Turn): Promise<{ frame: Buffer; spans: readonly Slice[] }> {
  const spans: Slice[] = [];
  const kept: Buffer[] = [];
  const names: string[] = [];
  let longTexts: Omit<Slice, 'longTexts'>[] = [];
  let depth = 0;
  let began = 0;
  let copied = 0;
  let turnAt = sliceBytes;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) {
      const to = endOfText(bytes, index);
      const isShallow = depth < spanDepth;
      if (isShallow && nextByte(bytes, to) === colon)
        names[depth] = bytes.toString('utf8', index + 1, to - 1);
      else if (!isShallow && to - index > maxTextBytes && nextByte(bytes, to) !== colon) {
        longTexts.push({ from: index, to });
      }
      index = to - 1;
    } else if (byte === openBrace || byte === openBracket) {
      if (depth === spanDepth && lists.every((name, level) => names[2 * level + 1] === name))
        began = index + 1;
      depth += 1;
      if (depth < spanDepth) names[depth] = '';
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === spanDepth && began > 0) {
        kept.push(bytes.subarray(copied, began - 1), Buffer.from(`[${spans.length}]`));
        spans.push({ from: began - 1, to: index + 1, longTexts });
        copied = index + 1;
        began = 0;
      }
      if (depth <= spanDepth) longTexts = [];
    }
    if (index < turnAt) continue;
    turnAt = index + sliceBytes;
    await turn();
  }
  kept.push(bytes.subarray(copied));
  return { frame: Buffer.concat(kept), spans };
}

/** Returns the index after a text; the length of the body if the text does not end. */
function endOfText(bytes: Buffer, from: number): number {
  const next = bytes.indexOf(0x22, from + 1);
  // An image has no escapes, and searching for its end is much faster than looking at each byte.
  if (next - from > maxTextBytes && !bytes.subarray(from, next).includes(0x5c)) return next + 1;
  for (let index = from + 1; index < bytes.length; index += 1) {
    if (bytes[index] === quote) return index + 1;
    if (bytes[index] === backslash) index += 1;
  }
  return bytes.length;
}

/** Returns the first byte that is not white space. */
function nextByte(bytes: Buffer, from: number): number | undefined {
  let index = from;
  while (bytes[index] === 0x20 || bytes[index] === 0x0a || bytes[index] === 0x0d || bytes[index] === 0x09) {
    index += 1;
  }
  return bytes[index];
}

function decoded(bytes: Buffer, { from, to, longTexts }: Slice, memory: DecodingMemory): unknown {
  const parts: Buffer[] = [];
  let copied = from;
  for (const text of longTexts) {
    parts.push(bytes.subarray(copied, text.from), longText);
    copied = text.to;
  }
  parts.push(bytes.subarray(copied, to));
  const json = longTexts.length > 0 ? Buffer.concat(parts) : bytes.subarray(from, to);
  memory.need(parsedBytes(json));
  return parsed(json, spanDepth);
}

function parsed(json: Buffer, depth = 0): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    throw notJson('is not JSON');
  }
  const { problem } = inspectJson(value, maxJsonDepth - depth);
  if (problem !== undefined) throw validationError('', 'invalid_json', `has a body that ${problem}`);
  return value;
}
