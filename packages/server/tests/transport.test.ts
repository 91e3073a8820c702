import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { endpointNames, endpoints } from '@actlog/protocol';
import { openApiDocument } from '@actlog/protocol/openapi';
import { expect, test } from 'vitest';
import { startServer } from '../src/index.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, readError, type TestServer, testServer } from './test-server.ts';

/** Sends raw bytes, and returns everything that arrives until the server closes the connection. */
async function raw(server: TestServer, ...pieces: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(server.server.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  for (const piece of pieces) socket.write(piece);
  await once(socket, 'close');
  return received;
}

function post(
  server: TestServer,
  body: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
): Promise<Response> {
  return fetch(`${server.server.url}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': type },
    body,
  });
}

const valid = JSON.stringify(activityEvent());

test.each([
  ['nothing', ''],
  ['half an object', '{"a":'],
  ['bytes that are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', `\ufeff${valid}`],
  ['NaN', '{"a":NaN}'],
  ['a number that no double holds', valid.replace('200', '1e999')],
  ['5,000 levels', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['a depth of 33', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`],
  ['an array', '[]'],
  ['null', 'null'],
  ['a NUL in an identifier', valid.replace('thread-1', 'a\\u0000b')],
  ['a lone surrogate in an identifier', valid.replace('thread-1', '\\ud800')],
])('refuses a body of %s with a validation error', async (_what, body) => {
  const server = await testServer();
  const error = await readError(await post(server, body));
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
});

test('tells the sender of a compressed body not to compress it', async () => {
  const server = await testServer();
  const error = await readError(await post(server, Uint8Array.from(gzipSync(valid))));
  expect(error).toMatchObject({ status: 400, message: 'The request must be UTF-8, and not compressed.' });
});

test('validates the last value of a repeated key', async () => {
  const server = await testServer();
  expect((await post(server, valid.replace('{', '{"agentId":"first",'))).status).toBe(202);
  expect((await post(server, valid.replace('"agentId"', '"agentId":5,"agentId"'))).status).toBe(202);
  expect((await post(server, valid.replace(/}$/, ',"agentId":5}'))).status).toBe(400);
});

test('refuses a body beyond 256 KiB, even without Content-Length', async () => {
  const server = await testServer();
  const body = JSON.stringify(activityEvent({ category: 'note', payload: { text: 'x'.repeat(262_144) } }));
  expect(await readError(await post(server, body))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const head = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
  expect(await raw(server, head, chunk, chunk, chunk, chunk, chunk)).toContain('PAYLOAD_TOO_LARGE');
});

test('receives the rest of a body that is too large, and keeps the connection', async () => {
  const server = await testServer();
  const head = `host: x\r\nauthorization: Bearer ${server.apiKey}\r\n`;
  const large = `POST /v1/events HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 5000000\r\n\r\n`;
  const { hostname, port } = new URL(server.server.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.write(large);
  while (!received.includes('PAYLOAD_TOO_LARGE')) await once(socket, 'data');
  socket.write('x'.repeat(5_000_000));
  socket.write(`GET /v1/sessions HTTP/1.1\r\n${head}connection: close\r\n\r\n`);
  await once(socket, 'close');
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('does not wait for the rest of a body that is far too large', async () => {
  const server = await testServer();
  const large = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n`;
  expect(await raw(server, large)).toContain('PAYLOAD_TOO_LARGE');
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x'])(
  'refuses a body of the type %s',
  async (type) => {
    const server = await testServer();
    expect(await readError(await post(server, valid, type))).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
  },
);

test('returns 404 for unknown paths, and 405 with the methods for known ones', async () => {
  const server = await testServer();
  const call = (path: string, method: string) => fetch(server.server.url + path, { method });
  expect(await readError(await call('/v2/events', 'GET'))).toMatchObject({
    status: 404,
    code: 'NOT_FOUND',
    message: expect.stringContaining('/openapi.json'),
  });
  // Unknown paths need no key, so bodies for them are not parsed.
  const headers = { 'content-type': 'application/json' };
  const sent = fetch(`${server.server.url}/v2/events`, { method: 'POST', headers, body: '{' });
  expect(await readError(await sent)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  const wrong = await readError(await call('/v1/policies/x', 'PUT'));
  expect(wrong).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
});

test.each(['%E0%A4%A', 'x'.repeat(10_000)])('sends the usual headers for a malformed path', async (id) => {
  const server = await testServer();
  const received = await readError(await fetch(`${server.server.url}/v1/sessions/${id}`));
  expect(received).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(Object.fromEntries(received.headers)).toMatchObject({
    'x-request-id': expect.any(String),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

test('responds with the error envelope to bytes that are not HTTP', async () => {
  const server = await testServer();
  const received = await raw(server, 'HELLO\r\n\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toMatchObject({
    error: { code: 'VALIDATION_ERROR' },
  });
});

test('responds with the error envelope to a request without a host', async () => {
  const server = await testServer();
  const received = await raw(server, 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
  expect(received).toContain('"message":"The request must have the header Host."');
  expect(await raw(server, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('responds with the error envelope to a request with two hosts', async () => {
  const server = await testServer();
  const head = 'GET /healthz HTTP/1.1\r\nHost: one\r\nhost: two\r\nconnection: close\r\n\r\n';
  const received = await raw(server, head);
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
  expect(received).toContain('"message":"The request must have the header Host only once."');
});

test('refuses identifiers that a URL cannot contain, and overlong times', async () => {
  const server = await testServer();
  const { message } = await server.refused('events.create', { body: activityEvent({ sessionId: '..' }) });
  expect(message).toBe(
    'sessionId: must not be "." or "..", which a URL path cannot contain; use another identifier.',
  );
  const sourceTimestamp = `2026-11-21T10:00:00.${'0'.repeat(200_000)}Z`;
  const error = await server.refused('events.create', { body: activityEvent({ sourceTimestamp }) });
  expect([error.status, error.code, error.message]).toEqual([
    400,
    'VALIDATION_ERROR',
    'sourceTimestamp: must have at most 40 characters.',
  ]);
});

test('ignores expectations other than 100-continue', async () => {
  const server = await testServer();
  const head = 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: more\r\nconnection: close\r\n\r\n';
  expect(await raw(server, head)).toMatch(/^HTTP\/1\.1 200 /);
});

test('explains that headers are too large, including those of proxies', async () => {
  const server = await testServer();
  const received = await raw(
    server,
    `GET /v1/sessions HTTP/1.1\r\nhost: x\r\nx-added: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  expect(received).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toMatchObject({
    error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('larger than 16 KiB') },
  });
});

test.each([
  ['its head', 'POST /v1/events HTTP/1.1\r\nhost: x\r\n'],
  ['its body', 'POST /v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'],
])('disconnects a client that never ends %s', async (_what, piece) => {
  const server = await testServer({ requestTimeoutMs: 1000 });
  const received = await raw(server, piece);
  expect(received === '' || /^HTTP\/1\.1 4\d\d /.test(received)).toBe(true);
  await server.ok('sessions.list');
});

test('documents exactly the routes of the server', async () => {
  const server = await testServer();
  const response = await fetch(`${server.server.url}/openapi.json`);
  const document = (await response.json()) as { paths: Record<string, Record<string, unknown>> };
  expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = endpointNames.map((name) => {
    const { method, path } = endpoints[name];
    return `${method} ${path.replace(':id', '{id}')}`;
  });
  expect(described.sort()).toEqual(table.sort());
});

test("serves the operator's paths without a key", async () => {
  const server = await testServer({});
  const get = (path: string) => fetch(server.server.url + path);
  expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
  expect(await (await get('/readyz')).json()).toEqual({ status: 'ready' });
  await server.record({});
  expect(await (await get('/metrics')).text()).toContain('actlog_events_stored_total 1');
});

test('completes requests that have arrived when it closes', async () => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval' });
  const held = server.check({}, { prefer: 'wait=25' });
  const events = Array.from({ length: 50 }, () => server.ok('events.create', { body: activityEvent() }));
  await Promise.all(events);
  await server.server.close();
  expect((await held).decision).toBe('require_approval');
});

test.each([
  ['on a public address', { host: '0.0.0.0' }, undefined, 401],
  ['on a public address where the operator opens them', { host: '0.0.0.0', metrics: 'open' }, undefined, 200],
  ['on a loopback address', { host: '127.0.0.1' }, undefined, 200],
  ['with a token', { host: '0.0.0.0', metricsToken: 'a token of the operator' }, 'a%20token', 401],
  ['with the right token', { metricsToken: 'token-of-the-operator' }, 'token-of-the-operator', 200],
  ['with a wrong token', { metricsToken: 'token-of-the-operator' }, 'token-of-another-one', 401],
  ['with no token where there is one', { metricsToken: 'token-of-the-operator' }, undefined, 401],
] as const)('the metrics %s', async (_where, options, token, status) => {
  const server = await testServer(options);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.server.url}/metrics`, { headers });
  expect(response.status).toBe(status);
  if (status === 401) expect((await readError(response)).code).toBe('AUTHENTICATION_FAILED');
  expect((await fetch(`${server.server.url}/healthz`)).status).toBe(200);
});

test('serves no page with eval', async () => {
  const server = await startServer();
  atTestEnd(() => server.close());
  const policies = await Promise.all(
    ['/', '/console/', '/docs', '/docs/', '/openapi.json', '/healthz'].map(async (path) => {
      const response = await fetch(server.url + path);
      return [path, response.headers.get('content-security-policy') ?? ''];
    }),
  );
  expect(policies.filter(([, policy]) => policy === '' || String(policy).includes('unsafe-eval'))).toEqual(
    [],
  );
});
