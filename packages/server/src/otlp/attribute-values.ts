import { isUtf8 } from 'node:buffer';
import type { SpanAttributes } from '@actlog/tool-call/spans';
import { maxTextLength } from './body-limits.ts';
import { decimalDigits } from './decimal-digits.ts';
import { tooLong } from './encoded-span.ts';
import { type Fields, fieldsOf, listOf, stringOf } from './request-shape.ts';

/** Attributes of a span. */
export interface ReadAttributes {
  readonly attributes: SpanAttributes;
  /** Names of attributes that are too long to be read. */
  readonly longKeys: readonly string[];
}

/**
 * Reads a list of `KeyValue`. Lists and maps become their JSON, which is how instrumentations without structured
 * attributes write them (semantic conventions for GenAI, `gen_ai.tool.call.arguments`).
 *
 * @param path - field of the request, for errors
 */
export function attributesOf(value: unknown, path: string): ReadAttributes {
  const attributes: Record<string, unknown> = Object.create(null);
  const longKeys: string[] = [];
  for (const entry of listOf(value, path)) {
    const { key, value: anyValue } = fieldsOf(entry, path);
    if (typeof key !== 'string') continue;
    const read = plainValue(anyValue, path);
    const shown = typeof read === 'object' && read !== null ? JSON.stringify(read) : read;
    const isLong = shown === longText || (typeof shown === 'string' && shown.length > maxTextLength);
    if (isLong) longKeys.push(key);
    else if (shown !== undefined) attributes[key] = shown;
  }
  return { attributes, longKeys };
}

const longText = JSON.stringify(tooLong);

/** Returns the JavaScript value of an `AnyValue`; undefined for an empty one. */
function plainValue(anyValue: unknown, path: string): unknown {
  const fields = fieldsOf(anyValue, path);
  // The fields of a decoded message that are not set have defaults on its prototype.
  const own = (name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const text = own('stringValue');
  if (text !== undefined) return typeof text === 'object' && text !== null ? tooLong : stringOf(text);
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
  return textOfBytes(own('bytesValue'));
}

/** Returns bytes as the text that they are, such as JSON; others in base64, as OTLP's JSON has them. */
function textOfBytes(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value)) return tooLong;
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : value;
  if (!Buffer.isBuffer(bytes)) return undefined;
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64');
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
