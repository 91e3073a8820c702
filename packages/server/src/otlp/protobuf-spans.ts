import protobuf from 'protobufjs/light.js';
import { maxTextBytes } from './body-limits.ts';
import { type DecodingMemory, type EncodedSpan, notProtobuf, tooLong } from './encoded-span.ts';
import { exportRequest } from './messages.ts';

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
