import type { GenAiSpan, SpanAttributes, SpanEvent } from '@actlog/tool-call/spans';
import { attributesOf } from './attribute-values.ts';
import { decimalDigits } from './decimal-digits.ts';
import { type Fields, fieldsOf, listOf, stringOf } from './request-shape.ts';

/** A span of a request. Its ids are in lower-case hexadecimal digits; undefined where they are not valid. */
export interface ReceivedSpan extends GenAiSpan {
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly parentId: string | undefined;
  /** Time of its end, in Unix milliseconds; undefined if it is missing or not valid. */
  readonly endedMs: number | undefined;
  /** Attributes of the program that sends the span, such as `service.name`. */
  readonly resource: SpanAttributes;
}

/**
 * Yields the spans of a decoded request.
 *
 * @throws ApiError `VALIDATION_ERROR` that names the field whose type is not valid
 */
export function* receivedSpans(request: unknown): Generator<ReceivedSpan, void> {
  const path = 'resourceSpans';
  for (const resourceSpans of listOf(fieldsOf(request, '').resourceSpans, path)) {
    const { resource, scopeSpans } = fieldsOf(resourceSpans, path);
    const resourcePath = `${path}.resource`;
    const { attributes } = fieldsOf(resource, resourcePath);
    const resourceAttributes = attributesOf(attributes, `${resourcePath}.attributes`);
    for (const ofScope of listOf(scopeSpans, `${path}.scopeSpans`)) {
      const { scope, spans } = fieldsOf(ofScope, `${path}.scopeSpans`);
      const instrumentationScope = { name: stringOf(fieldsOf(scope, `${path}.scopeSpans.scope`).name) ?? '' };
      for (const span of listOf(spans, spansPath)) {
        yield receivedSpan(fieldsOf(span, spansPath), instrumentationScope, resourceAttributes);
      }
    }
  }
}

const spansPath = 'resourceSpans.scopeSpans.spans';

function receivedSpan(
  span: Fields,
  instrumentationScope: { readonly name: string },
  resource: SpanAttributes,
): ReceivedSpan {
  const status = fieldsOf(span.status, `${spansPath}.status`);
  return {
    traceId: idOf(span.traceId, 16),
    spanId: idOf(span.spanId, 8),
    parentId: idOf(span.parentSpanId, 8),
    name: stringOf(span.name) ?? '',
    endedMs: millisecondsOf(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes, `${spansPath}.attributes`),
    events: listOf(span.events, `${spansPath}.events`).map(spanEvent),
    status: {
      code: typeof status.code === 'number' ? status.code : 0,
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
    attributes: attributesOf(attributes, `${spansPath}.events.attributes`),
  };
}

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
