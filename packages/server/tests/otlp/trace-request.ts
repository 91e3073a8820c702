import { gzipSync } from 'node:zlib';
import { exportRequest } from '../../src/otlp/request-shape.ts';
import type { TestServer } from '../test-server.ts';

/** An `AnyValue` in OTLP's JSON. */
export type AnyValue = Readonly<Record<string, unknown>>;

/** A span in OTLP's JSON. */
export type SpanJson = Readonly<Record<string, unknown>>;

/** Returns a list of `KeyValue`. */
export function keyValues(attributes: Readonly<Record<string, unknown>>): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

/** Returns the `AnyValue` of a JavaScript value. */
export function anyValue(value: unknown): AnyValue {
  if (typeof value === 'object' && value !== null && 'bytesValue' in value) return value as AnyValue;
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Number.isInteger(value)) return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: keyValues(value as Record<string, unknown>) } };
}

let lastId = 0x1000;

/** Returns an id that no other call returns, in hexadecimal digits. */
export function newId(bytes: number): string {
  lastId += 1;
  return lastId.toString(16).padStart(bytes * 2, 'a0');
}

/** Returns nanoseconds of a time, as OTLP's JSON has them. */
export function nanoseconds(timeMs: number): string {
  return `${timeMs}000000`;
}

/** Returns a span with these attributes. */
export function spanJson(attributes: Readonly<Record<string, unknown>>, fields: SpanJson = {}): SpanJson {
  return {
    traceId: newId(16),
    spanId: newId(8),
    name: 'span',
    kind: 1,
    startTimeUnixNano: nanoseconds(Date.now() - 5),
    endTimeUnixNano: nanoseconds(Date.now()),
    attributes: keyValues(attributes),
    status: {},
    ...fields,
  };
}

/** Returns a span of a tool by the semantic conventions, with these further attributes. */
export function toolSpanJson(
  toolName: string,
  attributes: Readonly<Record<string, unknown>> = {},
  fields: SpanJson = {},
): SpanJson {
  const all = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.arguments': '{"query":"lamp"}',
    ...attributes,
  };
  return spanJson(all, { name: `execute_tool ${toolName}`, ...fields });
}

/** Returns an `ExportTraceServiceRequest` with spans of one instrumentation. */
export function traceRequest(
  spans: readonly unknown[],
  {
    scope = 'tests',
    resource = { 'service.name': 'support-agent' },
  }: { readonly scope?: string; readonly resource?: Readonly<Record<string, unknown>> } = {},
): { readonly resourceSpans: readonly unknown[] } {
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope: { name: scope }, spans }] },
    ],
  };
}

/** Encodes a request of OTLP's JSON as protobuf. */
export function protobufOf(request: object): Buffer {
  const withBytes = JSON.parse(JSON.stringify(request), (key, value) =>
    /^(trace|span|parentSpan)Id$/.test(key) ? Buffer.from(value, 'hex') : value,
  );
  return Buffer.from(exportRequest.encode(exportRequest.fromObject(withBytes)).finish());
}

/** Sends a body to `/otlp/v1/traces`; an object as JSON. */
export function sendTraces(
  { server, apiKey }: TestServer,
  body: object | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isJson = !Buffer.isBuffer(body);
  return fetch(new URL('/otlp/v1/traces', server.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': isJson ? 'application/json' : 'application/x-protobuf',
      ...headers,
    },
    body: isJson ? (typeof body === 'string' ? body : JSON.stringify(body)) : new Uint8Array(body),
  });
}

/** Sends a body that is compressed with gzip. */
export function sendCompressed(server: TestServer, body: Buffer, contentType: string): Promise<Response> {
  return sendTraces(server, gzipSync(body), { 'content-type': contentType, 'content-encoding': 'gzip' });
}
