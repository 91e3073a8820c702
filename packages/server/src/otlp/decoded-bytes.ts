import protobuf from 'protobufjs/light.js';
import { parsedBytes } from '../http/json-shape.ts';
import type { Encoding } from './encoding.ts';
import { exportRequest } from './messages.ts';

/** Upper bound for the memory of a byte of text, and of one decoded value. */
const textBytes = 4;
const valueBytes = 96;

/**
 * Returns an upper bound for the memory of a decoded request, without decoding it.
 *
 * @throws Error when the bytes are not protobuf
 */
export function decodedBytes(encoding: Encoding, bytes: Buffer): number {
  if (encoding === 'json') return parsedBytes(bytes);
  const reader = protobuf.Reader.create(bytes);
  return bytes.length * textBytes + countValues(reader, exportRequest, bytes.length, 0) * valueBytes;
}

/** Counts the messages and fields up to `end`. */
function countValues(reader: protobuf.Reader, type: protobuf.Type, end: number, depth: number): number {
  if (depth > protobuf.Reader.recursionLimit) throw new RangeError('The message is nested too deeply.');
  let values = 1;
  while (reader.pos < end) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    const field = type.fieldsById[tag >>> 3];
    const inner = field?.resolvedType;
    if (wireType === 2 && inner instanceof protobuf.Type) {
      const length = reader.uint32();
      if (reader.pos + length > end) throw new RangeError('A message is longer than the one around it.');
      values += countValues(reader, inner, reader.pos + length, depth + 1);
    } else {
      values += field ? 1 : 0;
      reader.skipType(wireType);
    }
  }
  return values;
}
