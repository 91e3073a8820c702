import protobuf from 'protobufjs/light.js';
import { validationError } from '../lib/api-error.ts';

/**
 * The messages of OTLP that are read or sent, with the fields that are used (opentelemetry-proto 1.x: `trace.proto`,
 * `common.proto`, `resource.proto` and `trace_service.proto`; google.rpc: `status.proto` and `error_details.proto`).
 * Unknown fields are skipped.
 */
const root = protobuf.Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: {
      fields: { resourceSpans: { id: 1, rule: 'repeated', type: 'ResourceSpans' } },
    },
    ResourceSpans: {
      fields: {
        resource: { id: 1, type: 'Resource' },
        scopeSpans: { id: 2, rule: 'repeated', type: 'ScopeSpans' },
      },
    },
    Resource: { fields: { attributes: { id: 1, rule: 'repeated', type: 'KeyValue' } } },
    ScopeSpans: {
      fields: {
        scope: { id: 1, type: 'InstrumentationScope' },
        spans: { id: 2, rule: 'repeated', type: 'Span' },
      },
    },
    InstrumentationScope: { fields: { name: { id: 1, type: 'string' } } },
    Span: {
      fields: {
        traceId: { id: 1, type: 'bytes' },
        spanId: { id: 2, type: 'bytes' },
        parentSpanId: { id: 4, type: 'bytes' },
        name: { id: 5, type: 'string' },
        endTimeUnixNano: { id: 8, type: 'fixed64' },
        attributes: { id: 9, rule: 'repeated', type: 'KeyValue' },
        events: { id: 11, rule: 'repeated', type: 'Event' },
        status: { id: 15, type: 'SpanStatus' },
      },
    },
    Event: {
      fields: {
        name: { id: 2, type: 'string' },
        attributes: { id: 3, rule: 'repeated', type: 'KeyValue' },
      },
    },
    SpanStatus: { fields: { message: { id: 2, type: 'string' }, code: { id: 3, type: 'int32' } } },
    KeyValue: { fields: { key: { id: 1, type: 'string' }, value: { id: 2, type: 'AnyValue' } } },
    AnyValue: {
      oneofs: {
        value: {
          oneof: [
            'stringValue',
            'boolValue',
            'intValue',
            'doubleValue',
            'arrayValue',
            'kvlistValue',
            'bytesValue',
          ],
        },
      },
      fields: {
        stringValue: { id: 1, type: 'string' },
        boolValue: { id: 2, type: 'bool' },
        intValue: { id: 3, type: 'int64' },
        doubleValue: { id: 4, type: 'double' },
        arrayValue: { id: 5, type: 'ArrayValue' },
        kvlistValue: { id: 6, type: 'KeyValueList' },
        bytesValue: { id: 7, type: 'bytes' },
      },
    },
    ArrayValue: { fields: { values: { id: 1, rule: 'repeated', type: 'AnyValue' } } },
    KeyValueList: { fields: { values: { id: 1, rule: 'repeated', type: 'KeyValue' } } },
    ExportTraceServiceResponse: { fields: { partialSuccess: { id: 1, type: 'ExportTracePartialSuccess' } } },
    ExportTracePartialSuccess: {
      fields: { rejectedSpans: { id: 1, type: 'int64' }, errorMessage: { id: 2, type: 'string' } },
    },
    Status: {
      fields: {
        code: { id: 1, type: 'int32' },
        message: { id: 2, type: 'string' },
        details: { id: 3, rule: 'repeated', type: 'Any' },
      },
    },
    Any: { fields: { type_url: { id: 1, type: 'string' }, value: { id: 2, type: 'bytes' } } },
    BadRequest: { fields: { fieldViolations: { id: 1, rule: 'repeated', type: 'FieldViolation' } } },
    FieldViolation: { fields: { field: { id: 1, type: 'string' }, description: { id: 2, type: 'string' } } },
  },
});
root.resolveAll();

/** `ExportTraceServiceRequest` */
export const exportRequest: protobuf.Type = root.lookupType('ExportTraceServiceRequest');

/** `ExportTraceServiceResponse` */
export const exportResponse: protobuf.Type = root.lookupType('ExportTraceServiceResponse');

/** `google.rpc.Status` */
export const status: protobuf.Type = root.lookupType('Status');

/** `google.rpc.BadRequest` */
export const badRequest: protobuf.Type = root.lookupType('BadRequest');

/** An object of a decoded request. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a value as an object; an empty one for a field that is not set.
 *
 * @param path - field of the request, for the error
 * @throws ApiError `VALIDATION_ERROR` for any other value
 */
export function fieldsOf(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  throw validationError(path, 'invalid_type', 'must be an object');
}

/**
 * Returns a value as a list; an empty one for a field that is not set.
 *
 * @throws ApiError `VALIDATION_ERROR` for any other value
 */
export function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw validationError(path, 'invalid_type', 'must be an array');
}

/** Returns a value that is a string; undefined for others. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
