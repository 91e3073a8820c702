import type { GenAiSpan, SpanAttributes, SpanEvent } from '@actlog/tool-call/spans';
import { attributesOf } from './attribute-values.ts';
import { decimalDigits } from './decimal-digits.ts';
import type { EncodedSpan } from './encoded-span.ts';
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
