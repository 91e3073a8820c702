import { isUtf8 } from 'node:buffer';
import type { GenAiSpan, SpanAttributes, SpanEvent } from '@actlog/tool-call/spans';
import protobuf from 'protobufjs/light.js';
import { type EncodedSpan, maxTextLength, tooLong } from './encoded-span.ts';
import { type Fields, fieldsOf, listOf, stringOf } from './request-shape.ts';

/** A span of a request. Its ids are in lower-case hexadecimal digits; undefined where they are not valid. */
export interface ReceivedSpan extends GenAiSpan {
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly parentId: string | undefined;
  /** Time of its end, in Unix milliseconds; undefined if it is missing or not valid. */
  readonly endedMs: number | undefined;
  /** Names of attributes that are too long to be read. */
  readonly longKeys: readonly string[];
  /** Attributes of the program that sends the span, such as `service.name`. */
  readonly resource: SpanAttributes;
}

const resourcePath = 'resourceSpans.resource';
const scopePath = 'resourceSpans.scopeSpans.scope';
const spansPath = 'resourceSpans.scopeSpans.spans';

/** Reads the spans of a request, which may have the same resource and scope as the one before. */
export class SpanReader {
  #resource: unknown;
  #resourceAttributes: SpanAttributes = {};

  /** Decodes a span. @throws ApiError `VALIDATION_ERROR` that names the field whose type is not valid */
  read({ resource, scope, decode }: EncodedSpan): ReceivedSpan {
    if (resource !== this.#resource) {
      const { attributes } = fieldsOf(resource, resourcePath);
      this.#resourceAttributes = attributesOf(attributes, `${resourcePath}.attributes`).attributes;
      this.#resource = resource;
    }
    const name = stringOf(fieldsOf(scope, scopePath).name) ?? '';
    return receivedSpan(fieldsOf(decode(), spansPath), { name }, this.#resourceAttributes);
  }
}

function receivedSpan(
  span: Fields,
  instrumentationScope: { readonly name: string },
  resource: SpanAttributes,
): ReceivedSpan {
  const status = fieldsOf(span.status, `${spansPath}.status`);
  const { attributes, longKeys } = attributesOf(span.attributes, `${spansPath}.attributes`);
  return {
    traceId: idOf(span.traceId, 16),
    spanId: idOf(span.spanId, 8),
    parentId: idOf(span.parentSpanId, 8),
    name: stringOf(span.name) ?? '',
    endedMs: millisecondsOf(span.endTimeUnixNano),
    attributes,
    longKeys,
    events: listOf(span.events, `${spansPath}.events`).map(spanEvent),
    status: {
      code: statusCodeOf(status.code),
      message: stringOf(status.message) || undefined,
    },
    instrumentationScope,
    resource,
  };
}

function spanEvent(event: unknown): SpanEvent {
  const { name, attributes } = fieldsOf(event, `${spansPath}.events`);
  return {
    name: stringOf(name) ?? '',
    attributes: attributesOf(attributes, `${spansPath}.events.attributes`).attributes,
  };
}

/** In JSON, an enumeration is a number or its name (proto3, "JSON mapping"). */
function statusCodeOf(code: unknown): number {
  const byName = typeof code === 'string' ? statusCodes.indexOf(code) : -1;
  return byName === -1 ? Number(decimalDigits(code)) || 0 : byName;
}

const statusCodes = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'];

/** An id of only zeros is not valid (`trace.proto`). */
function idOf(value: unknown, length: number): string | undefined {
  // OTLP's JSON has ids in hexadecimal digits, not in base64 as other bytes.
  const hex = Buffer.isBuffer(value) ? value.toString('hex') : (stringOf(value) ?? '').toLowerCase();
  if (hex.length !== length * 2 || !/^[0-9a-f]+$/.test(hex)) return undefined;
  return /^0+$/.test(hex) ? undefined : hex;
}

/** Converts nanoseconds: a 64-bit integer of protobuf, or decimal digits or a number in JSON. */
function millisecondsOf(value: unknown): number | undefined {
  const digits = decimalDigits(value);
  if (!/^[0-9]{1,20}$/.test(digits)) return undefined;
  const nanoseconds = BigInt(digits);
  return nanoseconds === 0n ? undefined : Number(nanoseconds / 1_000_000n);
}

/** Attributes of a span. */
interface ReadAttributes {
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
function attributesOf(value: unknown, path: string): ReadAttributes {
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
  if (int !== undefined) return integerOf(int);
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

/** Creates a value that `JSON.stringify` writes as these digits; much faster than parsing them exactly. */
const { rawJSON } = JSON as unknown as { rawJSON(digits: string): object };

/** Returns a 64-bit integer, with all its digits: the ids of chats may be beyond 2^53. */
function integerOf(value: unknown): number | object {
  const digits = decimalDigits(value);
  const number = numberOf(value);
  return Number.isSafeInteger(number) || !/^-?[1-9]\d{15,19}$/.test(digits) ? number : rawJSON(digits);
}

/** In JSON, 64-bit integers are decimal digits, and `NaN` and infinities are words (proto3, "JSON mapping"). */
function numberOf(value: unknown): number {
  return Number(decimalDigits(value) || Number.NaN);
}

/**
 * Returns a number of a decoded request as text: a 64-bit integer of protobuf, or a string or number in JSON. Empty for
 * anything else, such as an object with a `toString` of its own.
 */
function decimalDigits(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof protobuf.util.Long ? value.toString() : '';
}
