import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { GroupCommit } from '../../src/ingest/group-commit.ts';
import { status } from '../../src/otlp/request-shape.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { protobufOf, sendCompressed, sendTraces, toolSpanJson, traceRequest } from './trace-request.ts';

const inSession = { 'gen_ai.conversation.id': 'one' };
const protobufType = 'application/x-protobuf';

async function statusIn(response: Response): Promise<{ code: number; message: string; details: object[] }> {
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as { code: number; message: string; details: object[] };
}

test('returns 400 that names the field for a request of another shape', async () => {
  const server = await testServer();
  for (const [body, path] of [
    ['[]', ''],
    ['{"resourceSpans": {}}', 'resourceSpans'],
    ['{"resource_spans": []}', 'resourceSpans'],
    ['{"resourceSpans": [{"instrumentationLibrarySpans": []}]}', 'resourceSpans.scopeSpans'],
    ['{"resourceSpans": [{"scopeSpans": 1}]}', 'resourceSpans.scopeSpans'],
    ['{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}', 'resourceSpans.scopeSpans.spans'],
    [
      '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": {}}]}]}]}',
      'resourceSpans.scopeSpans.spans.attributes',
    ],
  ] as const) {
    const response = await sendTraces(server, body);
    expect(response.status).toBe(400);
    const { code, details } = await statusIn(response);
    expect(code).toBe(3);
    expect(details).toMatchObject([
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: path }] },
    ]);
  }
});

test('returns 400 for a body that is not of its encoding', async () => {
  const server = await testServer();
  const json = JSON.stringify(traceRequest([toolSpanJson('search', inSession)]));
  const depth = '['.repeat(200) + ']'.repeat(200);
  for (const response of [
    await sendTraces(server, json.slice(0, -3)),
    await sendTraces(server, Buffer.from(json), { 'content-type': protobufType }),
    await sendTraces(server, protobufOf(JSON.parse(json)), { 'content-type': 'application/json' }),
    await sendTraces(server, protobufOf(JSON.parse(json)).subarray(0, -3)),
    await sendTraces(server, json, { 'content-encoding': 'gzip' }),
    await sendTraces(server, `{"resourceSpans": ${depth}}`),
    await sendTraces(server, ''),
  ]) {
    expect(response.status).toBe(400);
  }
  const response = await sendTraces(server, Buffer.from(json));
  expect([response.status, response.headers.get('content-type')]).toEqual([400, protobufType]);
  const failure = status.decode(Buffer.from(await response.arrayBuffer())).toJSON();
  expect(failure).toMatchObject({ code: 3, message: expect.stringContaining('ExportTraceServiceRequest') });
  expect((await server.ok('sessions.list')).items).toEqual([]);
});

test('returns 415 for another content type or coding', async () => {
  const server = await testServer();
  const request = JSON.stringify(traceRequest([toolSpanJson('search', inSession)]));
  const type = await sendTraces(server, request, { 'content-type': 'text/plain' });
  expect([type.status, (await statusIn(type)).message]).toEqual([
    415,
    'The body must be OTLP in protobuf or JSON; send Content-Type: application/x-protobuf or application/json.',
  ]);
  const coding = await sendTraces(server, request, { 'content-encoding': 'br' });
  expect([coding.status, coding.headers.get('accept-encoding')]).toEqual([415, 'gzip']);
});

test('returns 413 for a body that is too large, as sent, decompressed or decoded', async () => {
  const server = await testServer();
  const large = { 'gen_ai.tool.call.result': 'x'.repeat(21 * 1024 * 1024), ...inSession };
  const request = traceRequest([toolSpanJson('search', large)]);
  const empties = Buffer.alloc(3 * 1024 * 1024).fill(Buffer.from([0x12, 0x00]));
  const header = (tag: number, length: number) => {
    const bytes = [tag];
    for (let rest = length; ; rest >>>= 7) {
      bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest <= 127) return Buffer.from(bytes);
    }
  };
  const scopeSpans = Buffer.concat([header(0x12, empties.length), empties]);
  const manySpans = Buffer.concat([header(0x0a, scopeSpans.length), scopeSpans]);
  for (const response of [
    await sendTraces(server, request),
    await sendCompressed(server, Buffer.from(JSON.stringify(request)), 'application/json'),
    await sendCompressed(server, protobufOf(request), protobufType),
    // A bomb: 200 MiB in 200 KB
    await sendTraces(server, gzipSync(Buffer.alloc(200 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
    await sendCompressed(server, manySpans, protobufType),
    await sendCompressed(
      server,
      Buffer.from(`{"resourceSpans":[${'{},'.repeat(1_000_000)}{}]}`),
      'application/json',
    ),
    await sendTraces(server, protobufOf(traceRequest(Array(5001).fill(toolSpanJson('search', inSession))))),
  ]) {
    expect(response.status).toBe(413);
  }
  expect((await server.ok('sessions.list')).items).toEqual([]);
  expect((await sendTraces(server, traceRequest([]))).status).toBe(200);
});

test('requires a key with the scope ingest, and keeps tenants apart', async () => {
  const server = await testServer();
  const request = traceRequest([toolSpanJson('search', inSession)]);
  const unknown = await sendTraces(server.as('al_test_x'), request);
  expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(await statusIn(unknown)).toEqual({ code: 16, message: 'The API key is invalid or missing.' });
  await server.server.admin.tenants.create('other');
  const { apiKey: reader } = await server.server.admin.keys.create('other', { name: 'r', scopes: ['read'] });
  const refused = await sendTraces(server.as(reader), request);
  expect([refused.status, (await statusIn(refused)).code]).toEqual([403, 7]);
  const { apiKey: other } = await server.server.admin.keys.create('other', { name: 'all' });
  expect((await sendTraces(server.as(other), request)).status).toBe(200);
  expect((await server.ok('sessions.list')).items).toEqual([]);
  expect((await server.as(other).ok('sessions.get', { id: 'one' })).eventCount).toBe(1);
});

test('returns 429 with Retry-After beyond the rate limit, and beyond a quota', async () => {
  const limited = await testServer({ rateLimit: { requestsPerSecond: 0.01, burst: 1 } });
  const request = traceRequest([toolSpanJson('search', inSession), toolSpanJson('refund', inSession)]);
  expect((await sendTraces(limited, request)).status).toBe(200);
  const second = await sendTraces(limited, request);
  expect([second.status, (await statusIn(second)).code]).toEqual([429, 8]);
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);

  const small = await testServer({ quotas: { eventsPerMonth: 1 } });
  const full = await sendTraces(small, request);
  expect([full.status, (await statusIn(full)).code]).toEqual([429, 8]);
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('returns 503 with Retry-After when the queue is full, and stores the rest on the next attempt', async () => {
  const server = await testServer();
  const request = traceRequest(
    Array.from({ length: 3 }, (_, index) => toolSpanJson(`tool-${index}`, inSession)),
  );
  const { record } = GroupCommit.prototype;
  let calls = 0;
  const spy = vi.spyOn(GroupCommit.prototype, 'record').mockImplementation(function (
    this: GroupCommit,
    ...args
  ) {
    calls += 1;
    const full = new GroupCommit({
      maxQueued: 0,
      gatherMs: 0,
      metrics: undefined as never,
      scoring: undefined as never,
      storage: undefined as never,
    });
    return record.apply(calls === 2 ? full : this, args);
  });
  atTestEnd(async () => spy.mockRestore());
  const first = await sendTraces(server, request);
  expect([first.status, first.headers.get('retry-after'), (await statusIn(first)).code]).toEqual([
    503,
    '1',
    14,
  ]);
  expect((await sendTraces(server, request)).status).toBe(200);
  expect((await server.ok('sessions.get', { id: 'one' })).eventCount).toBe(3);
});

test('returns 503 with Retry-After while other spans take all memory', async () => {
  const server = await testServer({ maxQueuedBytes: 1_000_000 });
  const body = Buffer.from(JSON.stringify(traceRequest([toolSpanJson('search', inSession)])).padEnd(900_000));
  const slow = startRequest(new URL('/otlp/v1/traces', server.server.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      'content-length': 200_000,
    },
  });
  const begun = once(slow, 'response');
  slow.write(body.subarray(0, 100_000));
  const refused = async () => {
    const response = await sendTraces(server, body);
    return [response.status, response.headers.get('retry-after')];
  };
  await expect.poll(refused).toEqual([503, '1']);
  slow.end(body.subarray(100_000, 200_000));
  const [response] = (await begun) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
  expect((await server.ok('sessions.get', { id: 'one' })).eventCount).toBe(1);
});

test('returns 405 for another method and 404 for another path', async () => {
  const server = await testServer();
  const get = await fetch(new URL('/otlp/v1/traces', server.server.url));
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  const metrics = await fetch(new URL('/otlp/v1/metrics', server.server.url), { method: 'POST' });
  expect(metrics.status).toBe(404);
});
