import { expect } from 'vitest';
import { testServer } from '../test-server.ts';
import {
  keyValues,
  nanoseconds,
  newId,
  protobufOf,
  type SpanJson,
  sendTraces,
  spanJson,
  traceRequest,
} from './trace-request.ts';

/** An event of a tool call. */
export interface Recorded {
  readonly agentId: string;
  readonly toolName: unknown;
  readonly argumentsHash: unknown;
  readonly responseStatus: unknown;
}

/** Sends spans to a server as Python's exporter does, in protobuf, and returns the events of a session. */
export async function recorded(
  scope: string,
  spans: readonly SpanJson[],
  sessionId: string,
): Promise<Recorded[]> {
  const server = await testServer();
  const resource = {
    'service.name': 'support-agent',
    'telemetry.sdk.language': 'python',
    'telemetry.sdk.name': 'opentelemetry',
  };
  const response = await sendTraces(server, protobufOf(traceRequest(spans, { scope, resource })));
  expect(response.status).toBe(200);
  const { events } = await server.ok('sessions.get', { id: sessionId });
  return events.map(({ agentId, payload }) => ({ agentId, ...payload }) as unknown as Recorded);
}

/** Returns a function that creates spans of one trace, each of which ends after those before it. */
export function traceOf() {
  const traceId = newId(16);
  let endedMs = Date.now();
  return (name: string, attributes: Readonly<Record<string, unknown>>, fields: SpanJson = {}) =>
    spanJson(attributes, { traceId, name, endTimeUnixNano: nanoseconds(endedMs++), ...fields });
}

/** Returns the fields of a span that failed, as Python's SDK records an exception. */
export function failure(type: string, message = ''): SpanJson {
  return {
    status: { code: 2, message: `${type}: ${message}` },
    events: [
      {
        name: 'exception',
        timeUnixNano: nanoseconds(Date.now()),
        attributes: keyValues({
          'exception.type': type,
          'exception.message': message,
          'exception.stacktrace': 'Traceback (most recent call last): …',
          'exception.escaped': 'False',
        }),
      },
    ],
  };
}
