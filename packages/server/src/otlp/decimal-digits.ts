import protobuf from 'protobufjs/light.js';

/**
 * Returns a number of a decoded request as text: a 64-bit integer of protobuf, or a string or number in JSON. Empty for
 * anything else, such as an object with a `toString` of its own.
 */
export function decimalDigits(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof protobuf.util.Long ? value.toString() : '';
}
