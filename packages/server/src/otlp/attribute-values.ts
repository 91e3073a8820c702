import type { SpanAttributes } from '@actlog/tool-call/spans';
import { decimalDigits } from './decimal-digits.ts';
import { type Fields, fieldsOf, listOf, stringOf } from './request-shape.ts';

/**
 * Longest attribute that is read, in characters; a longer one is like one that is not set. Parsing the JSON in it would
 * take many times its memory.
 */
const maxTextLength = 256 * 1024;

/**
 * Reads a list of `KeyValue`. Lists and maps become their JSON, which is how instrumentations without structured
 * attributes write them (semantic conventions for GenAI, `gen_ai.tool.call.arguments`).
 *
 * @param path - field of the request, for errors
 */
export function attributesOf(value: unknown, path: string): SpanAttributes {
  const attributes: Record<string, unknown> = Object.create(null);
  for (const entry of listOf(value, path)) {
    const { key, value: anyValue } = fieldsOf(entry, path);
    const read = shownValue(plainValue(anyValue, path));
    if (typeof key === 'string' && read !== undefined) attributes[key] = read;
  }
  return attributes;
}

function shownValue(value: unknown): unknown {
  const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return typeof shown === 'string' && shown.length > maxTextLength ? undefined : shown;
}

/** Returns the JavaScript value of an `AnyValue`; undefined for an empty one. */
function plainValue(anyValue: unknown, path: string): unknown {
  const fields = fieldsOf(anyValue, path);
  // The fields of a decoded message that are not set have defaults on its prototype.
  const own = (name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const text = own('stringValue');
  if (text !== undefined) return stringOf(text);
  const bool = own('boolValue');
  if (bool !== undefined) return bool === true;
  const int = own('intValue');
  if (int !== undefined) return numberOf(int);
  const double = own('doubleValue');
  if (double !== undefined) return numberOf(double);
  const list = own('arrayValue');
  if (list !== undefined) return valuesOf(list, path).map((item) => plainValue(item, path) ?? null);
  const map = own('kvlistValue');
  if (map !== undefined) return objectOf(valuesOf(map, path), path);
  const bytes = own('bytesValue');
  return Buffer.isBuffer(bytes) ? bytes.toString('base64') : stringOf(bytes);
}

function valuesOf(list: unknown, path: string): readonly unknown[] {
  return listOf(fieldsOf(list, path).values, path);
}

function objectOf(entries: readonly unknown[], path: string): Fields {
  const object: Record<string, unknown> = Object.create(null);
  for (const entry of entries) {
    const { key, value } = fieldsOf(entry, path);
    if (typeof key === 'string') object[key] = plainValue(value, path) ?? null;
  }
  return object;
}

/** In JSON, 64-bit integers are decimal digits, and `NaN` and infinities are words (proto3, "JSON mapping"). */
function numberOf(value: unknown): number {
  return Number(decimalDigits(value) || Number.NaN);
}
