import { hashArguments } from '@actlog/tool-call';
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';

/** Compression of the exporters; their enum is not exported. */
const gzip = 'gzip' as never;

const exporters = {
  JSON: (options: object) => new JsonExporter(options),
  'compressed JSON': (options: object) => new JsonExporter({ ...options, compression: gzip }),
  protobuf: (options: object) => new ProtobufExporter(options),
  'compressed protobuf': (options: object) => new ProtobufExporter({ ...options, compression: gzip }),
};

/** Exports the spans of an agent's run, in one request per span. */
async function exportRun(exporter: SpanExporter, sessionId: string): Promise<void> {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('agent');
  const run = tracer.startSpan('invoke_agent support');
  const within = trace.setSpan(ROOT_CONTEXT, run);
  const tool = (name: string, ended: Date) => {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.arguments': '{"query":"lamp"}',
      'gen_ai.conversation.id': sessionId,
      'gen_ai.agent.name': 'support',
    };
    return {
      span: tracer.startSpan(`execute_tool ${name}`, { attributes, startTime: ended }, within),
      ended,
    };
  };
  const search = tool('search', new Date('2026-01-02T03:04:05.678Z'));
  search.span.end(search.ended);
  const refund = tool('refund', new Date('2026-01-02T03:04:06.789Z'));
  refund.span.recordException(Object.assign(new Error('no'), { name: 'TimeoutError' }));
  refund.span.setStatus({ code: SpanStatusCode.ERROR });
  refund.span.end(refund.ended);
  run.end();
  await provider.forceFlush();
  await provider.shutdown();
}

function optionsFor({ server, apiKey }: TestServer): object {
  return { url: `${server.url}/otlp/v1/traces`, headers: { authorization: `Bearer ${apiKey}` } };
}

test.each(Object.entries(exporters))('records tool spans of the exporter for %s', async (name, create) => {
  const server = await testServer();
  await exportRun(create(optionsFor(server)), name);
  const { agentIds, events } = await server.ok('sessions.get', { id: name });
  const argumentsHash = await hashArguments({ query: 'lamp' });
  expect(agentIds).toEqual(['support']);
  expect(events).toMatchObject([
    {
      category: 'tool_api',
      sourceTimestamp: '2026-01-02T03:04:05.678Z',
      payload: { toolName: 'search', argumentsHash, responseStatus: 200 },
    },
    {
      sourceTimestamp: '2026-01-02T03:04:06.789Z',
      payload: { toolName: 'refund', argumentsHash, responseStatus: 408 },
    },
  ]);
});

test('is configured by the two environment variables of OpenTelemetry', async () => {
  const server = await testServer();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `${server.server.url}/otlp`;
  process.env.OTEL_EXPORTER_OTLP_HEADERS = `authorization=Bearer%20${server.apiKey}`;
  atTestEnd(async () => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    delete process.env.OTEL_EXPORTER_OTLP_HEADERS;
  });
  await exportRun(new ProtobufExporter(), 'by-environment');
  expect((await server.ok('sessions.get', { id: 'by-environment' })).eventCount).toBe(2);
});
