import { hashArguments } from '@actlog/tool-call';
import { expect, test } from 'vitest';
import { exportResponse } from '../../src/otlp/request-shape.ts';
import { testServer } from '../test-server.ts';
import {
  newId,
  protobufOf,
  sendCompressed,
  sendTraces,
  spanJson,
  toolSpanJson,
  traceRequest,
} from './trace-request.ts';

const inSession = { 'gen_ai.conversation.id': 'one' };
const protobufType = 'application/x-protobuf';

test('responds in the encoding of the request, with an empty message if there is nothing to say', async () => {
  const server = await testServer();
  await server.ok('agents.create', { body: { id: 'support-agent', name: 'Support' } });
  const request = traceRequest([toolSpanJson('search', inSession)]);
  const json = await sendTraces(server, request);
  expect([json.status, json.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await json.json()).toEqual({});
  const protobuf = await sendTraces(server, protobufOf(request));
  expect([protobuf.status, protobuf.headers.get('content-type')]).toEqual([200, protobufType]);
  expect((await protobuf.arrayBuffer()).byteLength).toBe(0);
});

test('records a span once, however often and in whatever encoding it is sent', async () => {
  const server = await testServer();
  const spans = [toolSpanJson('search', inSession), toolSpanJson('refund', inSession)];
  const request = traceRequest(spans);
  await sendTraces(server, request);
  await sendTraces(server, protobufOf(request));
  await sendTraces(server, traceRequest([...spans, ...spans]));
  await sendCompressed(server, protobufOf(request), protobufType);
  const { events, eventCount } = await server.ok('sessions.get', { id: 'one' });
  expect(eventCount).toBe(2);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(2);
});

test('accepts and ignores spans that are not of tools, and a request without spans', async () => {
  const server = await testServer();
  const chat = spanJson({ 'gen_ai.operation.name': 'chat', ...inSession });
  for (const body of [traceRequest([chat, spanJson({})]), traceRequest([]), {}, Buffer.alloc(0)]) {
    const response = await sendTraces(server, body);
    expect(response.status).toBe(200);
  }
  expect((await server.ok('sessions.list')).items).toEqual([]);
});

test('reports the tool spans that it cannot record, and records the others', async () => {
  const server = await testServer();
  await server.ok('agents.create', { body: { id: 'support-agent', name: 'Support' } });
  const spans = [
    toolSpanJson('search', inSession, { traceId: '00'.repeat(16) }),
    toolSpanJson('search', inSession, { traceId: 'abc' }),
    toolSpanJson('search', inSession, { spanId: '' }),
    toolSpanJson('search', inSession, { endTimeUnixNano: '0' }),
    toolSpanJson('search', inSession, { endTimeUnixNano: 'now' }),
    spanJson({}, { traceId: '', spanId: '' }),
    toolSpanJson('good', inSession),
  ];
  const response = await sendTraces(server, traceRequest(spans));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    partialSuccess: {
      rejectedSpans: '5',
      errorMessage:
        'Tool spans of tests not recorded: 2, because traceId must be 16 bytes, not all zero. ' +
        'Tool spans of tests not recorded: 1, because spanId must be 8 bytes, not all zero. ' +
        'Tool spans of tests not recorded: 2, because endTimeUnixNano must be a time in nanoseconds.',
    },
  });
  const { events } = await server.ok('sessions.get', { id: 'one' });
  expect(events.map(({ payload }) => payload.toolName)).toEqual(['good']);
});

test('returns the warnings of events as a partial success without rejected spans', async () => {
  const server = await testServer();
  const old = toolSpanJson('search', inSession, { endTimeUnixNano: '1000000000000000000' });
  const response = await sendTraces(server, protobufOf(traceRequest([old])));
  const { partialSuccess } = exportResponse.toObject(
    exportResponse.decode(Buffer.from(await response.arrayBuffer())),
    { longs: Number, defaults: true },
  ) as { partialSuccess: { rejectedSpans: number; errorMessage: string } };
  expect(partialSuccess.rejectedSpans).toBe(0);
  expect(partialSuccess.errorMessage).toMatch(/^Warning TIMESTAMP_TOO_OLD for 1 /);
});

test('is a success for an agent that is not registered', async () => {
  const server = await testServer();
  const response = await sendTraces(server, traceRequest([toolSpanJson('search', inSession)]));
  expect(await response.json()).toEqual({});
});

test.each(['json', 'protobuf'])('records the spans beside an image in a prompt, in %s', async (encoding) => {
  const server = await testServer();
  const image = `data:image/png;base64,${'iVBOR+/='.repeat(1024 * 1024)}`;
  const chat = spanJson({ 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': image });
  const long = toolSpanJson('draw', {
    ...inSession,
    'gen_ai.tool.call.arguments': JSON.stringify({ image }),
  });
  const request = traceRequest([chat, long, toolSpanJson('search', inSession)]);
  const response = await sendTraces(server, encoding === 'json' ? request : protobufOf(request));
  expect(response.status).toBe(200);
  const { events } = await server.ok('sessions.get', { id: 'one' });
  const hashes = events.map(({ payload }) => [payload.toolName, payload.argumentsHash]);
  expect(Object.fromEntries(hashes)).toEqual({
    draw: 'sha256:unavailable',
    search: await hashArguments({ query: 'lamp' }),
  });
});

test('finds the spans in JSON whatever its white space, order and escapes', async () => {
  const server = await testServer();
  const odd = { 'gen_ai.tool.call.arguments': '{"a":"\\\\\\"}{[","b":["]"]}' };
  const [{ resource, scopeSpans }] = traceRequest([
    toolSpanJson('first', { ...inSession, ...odd }),
    toolSpanJson('second', inSession),
  ]).resourceSpans as [{ resource: object; scopeSpans: object[] }];
  const decoys = { spans: [{ spans: [{}] }], scopeSpans: 'resourceSpans' };
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans, decoys, resource }], spans: [{}] }, null, 2);
  expect((await sendTraces(server, body)).status).toBe(200);
  const { events, agentId } = await server.ok('sessions.get', { id: 'one' });
  expect(agentId).toBe('support-agent');
  const hashes = events.map(({ payload }) => [payload.toolName, payload.argumentsHash]);
  expect(Object.fromEntries(hashes)).toEqual({
    first: await hashArguments(JSON.parse(odd['gen_ai.tool.call.arguments'])),
    second: await hashArguments({ query: 'lamp' }),
  });
});

test.each(['json', 'protobuf'])('keeps all digits of integers, in %s', async (encoding) => {
  const server = await testServer();
  const spans = ['1917043659912705297', '1917043659912705301'].map((digits) => {
    const integer = { intValue: digits };
    const inMap = { key: 'account', value: integer };
    const attributes = [
      { key: 'session.id', value: integer },
      { key: 'gen_ai.tool.call.arguments', value: { kvlistValue: { values: [inMap] } } },
    ];
    const span = spanJson({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'refund' });
    return { ...span, attributes: [...(span.attributes as object[]), ...attributes] };
  });
  const request = traceRequest(spans);
  await sendTraces(server, encoding === 'json' ? request : protobufOf(request));
  for (const account of [1917043659912705297n, 1917043659912705301n]) {
    const { events } = await server.ok('sessions.get', { id: String(account) });
    expect(events.map(({ payload }) => payload.argumentsHash)).toEqual([await hashArguments({ account })]);
  }
});

test.each([2, '2', 'STATUS_CODE_ERROR'])('reads the status %j', async (code) => {
  const server = await testServer();
  await sendTraces(server, traceRequest([toolSpanJson('search', inSession, { status: { code } })]));
  const { events } = await server.ok('sessions.get', { id: 'one' });
  expect(events.map(({ payload }) => payload.responseStatus)).toEqual([500]);
});

test('counts tool spans that are not understood, by scope and reason', async () => {
  const server = await testServer();
  const spans = [
    toolSpanJson('python', { ...inSession, 'gen_ai.tool.call.arguments': "{'query': 'lamp'}" }),
    toolSpanJson('long', { ...inSession, 'gen_ai.tool.call.arguments': `"${'x'.repeat(300_000)}"` }),
    toolSpanJson('none', { ...inSession, 'gen_ai.tool.call.arguments': '' }),
    spanJson({ 'acme.tool.name': 'search', 'acme.input': '{}' }),
    spanJson({ 'gen_ai.operation.name': 'chat', 'acme.tool.name': 'search' }),
    spanJson({}, { name: 'execute_tool search' }),
  ];
  const { partialSuccess } = (await (await sendTraces(server, traceRequest(spans))).json()) as {
    partialSuccess: { rejectedSpans: string; errorMessage: string };
  };
  expect(partialSuccess).toEqual({
    rejectedSpans: '2',
    errorMessage:
      'Tool spans of tests recorded without a hash of the arguments: 1, because they have arguments in no known form, ' +
      'such as JSON. Tool spans of tests recorded without a hash of the arguments: 1, because they have arguments of more ' +
      'than 256 KiB. Tool spans of tests not recorded: 2, because they have the attributes of no known format.',
  });
  await sendTraces(server, traceRequest(spans, { scope: 'acme' }));
  const metrics = await (await fetch(new URL('/metrics', server.server.url))).text();
  expect(metrics).toContain('actlog_otlp_unread_spans_total{scope="tests",reason="format"} 2');
  expect(metrics).toContain('actlog_otlp_unread_spans_total{scope="acme",reason="arguments"} 1');
  expect((await server.ok('sessions.get', { id: 'one' })).eventCount).toBe(3);
});

test('takes session and agent from enclosing spans of the same request, else from the resource, else the trace', async () => {
  const server = await testServer();
  const traceId = newId(16);
  const [runId, stepId] = [newId(8), newId(8)];
  const run = spanJson({ 'gen_ai.agent.name': 'support', ...inSession }, { traceId, spanId: runId });
  const step = spanJson({}, { traceId, spanId: stepId, parentSpanId: runId });
  const call = toolSpanJson('search', {}, { traceId, parentSpanId: stepId });
  await sendTraces(server, traceRequest([call, step, run]));
  expect((await server.ok('sessions.get', { id: 'one' })).agentId).toBe('support');

  const late = toolSpanJson('search', {}, { traceId, parentSpanId: newId(8) });
  await sendTraces(server, traceRequest([late], { resource: {} }));
  expect((await server.ok('sessions.get', { id: traceId })).agentId).toBe('unknown_service');

  const resource = { 'service.name': 'billing', 'session.id': 'of-program' };
  await sendTraces(server, traceRequest([toolSpanJson('search')], { resource }));
  expect((await server.ok('sessions.get', { id: 'of-program' })).agentId).toBe('billing');
});

test('ends when spans are within each other in a circle', async () => {
  const server = await testServer();
  const traceId = newId(16);
  const [first, second] = [newId(8), newId(8)];
  const spans = [
    toolSpanJson('search', inSession, { traceId, spanId: first, parentSpanId: second }),
    toolSpanJson('refund', {}, { traceId, spanId: second, parentSpanId: first }),
    toolSpanJson('self', inSession, { traceId, spanId: traceId.slice(16), parentSpanId: traceId.slice(16) }),
  ];
  expect((await sendTraces(server, traceRequest(spans))).status).toBe(200);
  expect((await server.ok('sessions.get', { id: 'one' })).eventCount).toBe(3);
});

test('counts a call that two instrumentations report in one request once', async () => {
  const server = await testServer();
  const traceId = newId(16);
  const spanId = newId(8);
  const outer = toolSpanJson('by-place', inSession, { traceId, spanId });
  const inner = toolSpanJson('by-place', inSession, { traceId, parentSpanId: spanId });
  const byId = toolSpanJson('by-id', { ...inSession, 'gen_ai.tool.call.id': '1' }, { traceId });
  const again = toolSpanJson('by-id', { ...inSession, 'gen_ai.tool.call.id': '1' }, { traceId });
  const [ofFirst] = traceRequest([outer, byId], { scope: 'first' }).resourceSpans;
  const [ofSecond] = traceRequest([inner, again], { scope: 'second' }).resourceSpans;
  await sendTraces(server, { resourceSpans: [ofFirst, ofSecond] });
  const { events } = await server.ok('sessions.get', { id: 'one' });
  expect(events.map(({ payload }) => payload.toolName).sort()).toEqual(['by-id', 'by-place']);
});

test('treats arguments over 256 KiB or 100 levels as ones that are not shown', async () => {
  const server = await testServer();
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const shown = { long: JSON.stringify('x'.repeat(300_000)), deep: nested(101), fits: nested(100) };
  const spans = Object.entries(shown).map(([name, text]) =>
    toolSpanJson(name, { ...inSession, 'gen_ai.tool.call.arguments': text }),
  );
  await sendTraces(server, traceRequest(spans));
  const { events } = await server.ok('sessions.get', { id: 'one' });
  const hashes = events.map(({ payload }) => [payload.toolName, payload.argumentsHash]);
  expect(Object.fromEntries(hashes)).toEqual({
    long: 'sha256:unavailable',
    deep: 'sha256:unavailable',
    fits: await hashArguments(JSON.parse(shown.fits)),
  });
});

test('counts requests in the metrics under their path', async () => {
  const server = await testServer({});
  await sendTraces(server, traceRequest([toolSpanJson('search', inSession)]));
  await expect
    .poll(async () => (await fetch(new URL('/metrics', server.server.url))).text())
    .toMatch(/request_duration_seconds_count\{method="POST",route="\/otlp\/v1\/traces",status="200"\} 1/);
});
