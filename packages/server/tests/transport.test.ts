import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { endpointNames, endpoints } from '@actlog/protocol';
import { openApiDocument } from '@actlog/protocol/openapi';
import { expect, test } from 'vitest';
import { activityEvent, readError, type TestServer, testServer } from './test-server.ts';

/** Sends bytes as they are, and returns all that comes back until the server closes the connection. */
async function raw(server: TestServer, ...pieces: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(server.server.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  for (const piece of pieces) socket.write(piece);
  await once(socket, 'close');
  return answer;
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
])('a body of %s is a validation error', async (_what, body) => {
  const server = await testServer();
  const error = await readError(await post(server, body));
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
});

test('who sends a compressed body reads that it must not be', async () => {
  const server = await testServer();
  const error = await readError(await post(server, Uint8Array.from(gzipSync(valid))));
  expect(error).toMatchObject({ status: 400, message: 'The request must be UTF-8, and not compressed' });
});

test('of a key that stands twice, the last value counts, and it is checked', async () => {
  const server = await testServer();
  expect((await post(server, valid.replace('{', '{"agentId":"first",'))).status).toBe(202);
  expect((await post(server, valid.replace('"agentId"', '"agentId":5,"agentId"'))).status).toBe(202);
  expect((await post(server, valid.replace(/}$/, ',"agentId":5}'))).status).toBe(400);
});

test('a body beyond 256 KiB is refused, also when its length is not announced', async () => {
  const server = await testServer();
  const body = JSON.stringify(activityEvent({ category: 'note', payload: { text: 'x'.repeat(262_144) } }));
  expect(await readError(await post(server, body))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const head = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
  expect(await raw(server, head, chunk, chunk, chunk, chunk, chunk)).toContain('PAYLOAD_TOO_LARGE');
});

test('a client that goes on sending what is too large reads why, and uses its connection again', async () => {
  const server = await testServer();
  const head = `host: x\r\nauthorization: Bearer ${server.apiKey}\r\n`;
  const large = `POST /v1/events HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 5000000\r\n\r\n`;
  const { hostname, port } = new URL(server.server.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(large);
  while (!answer.includes('PAYLOAD_TOO_LARGE')) await once(socket, 'data');
  socket.write('x'.repeat(5_000_000));
  socket.write(`GET /v1/sessions HTTP/1.1\r\n${head}connection: close\r\n\r\n`);
  await once(socket, 'close');
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('what is far too large is not waited for', async () => {
  const server = await testServer();
  const large = `POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n`;
  expect(await raw(server, large)).toContain('PAYLOAD_TOO_LARGE');
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x'])(
  'a body of the type %s is refused',
  async (type) => {
    const server = await testServer();
    expect(await readError(await post(server, valid, type))).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
  },
);

test('unknown paths are not found; known ones say which methods they take', async () => {
  const server = await testServer();
  const call = (path: string, method: string) => fetch(server.server.url + path, { method });
  expect(await readError(await call('/v2/events', 'GET'))).toMatchObject({
    status: 404,
    code: 'NOT_FOUND',
    message: expect.stringContaining('/openapi.json'),
  });
  // Who asks for what there is not needs no key, so nothing that it sends is parsed.
  const headers = { 'content-type': 'application/json' };
  const sent = fetch(`${server.server.url}/v2/events`, { method: 'POST', headers, body: '{' });
  expect(await readError(await sent)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  const wrong = await readError(await call('/v1/policies/x', 'PUT'));
  expect(wrong).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
});

test.each(['%E0%A4%A', 'x'.repeat(10_000)])(
  'a path that cannot be read has what all answers have',
  async (id) => {
    const server = await testServer();
    const answer = await readError(await fetch(`${server.server.url}/v1/sessions/${id}`));
    expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-request-id': expect.any(String),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  },
);

test('bytes that are no HTTP are answered by the envelope', async () => {
  const server = await testServer();
  const answer = await raw(server, 'HELLO\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
    error: { code: 'VALIDATION_ERROR' },
  });
});

test('a request that names no host is answered by the envelope', async () => {
  const server = await testServer();
  const answer = await raw(server, 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
  expect(answer).toContain('"message":"The request must have the header Host"');
  expect(await raw(server, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('what a request expects besides 100-continue is no reason to refuse it', async () => {
  const server = await testServer();
  const head = 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: more\r\nconnection: close\r\n\r\n';
  expect(await raw(server, head)).toMatch(/^HTTP\/1\.1 200 /);
});

test('headers that are too large, as with what a proxy adds, are told as that', async () => {
  const server = await testServer();
  const answer = await raw(
    server,
    `GET /v1/sessions HTTP/1.1\r\nhost: x\r\nx-added: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
    error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('larger than 16 KiB') },
  });
});

test.each([
  ['its head', 'POST /v1/events HTTP/1.1\r\nhost: x\r\n'],
  ['its body', 'POST /v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'],
])('a client that never ends %s is cut off', async (_what, piece) => {
  const server = await testServer({ requestTimeoutMs: 1000 });
  const answer = await raw(server, piece);
  expect(answer === '' || /^HTTP\/1\.1 4\d\d /.test(answer)).toBe(true);
  await server.ok('sessions.list');
});

test('every route of the server is in the document, and none besides', async () => {
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

test('the operator’s paths answer without a key, and the docs come from this server alone', async () => {
  const server = await testServer({ docs: true });
  const get = (path: string) => fetch(server.server.url + path);
  expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
  expect(await (await get('/readyz')).json()).toEqual({ status: 'ready' });
  await server.record({});
  expect(await (await get('/metrics')).text()).toContain('actlog_events_stored_total 1');
  const page = await get('/docs/');
  const html = await page.text();
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'");
  expect((await get('/docs/js/scalar.js')).status).toBe(200);
  expect((await get('/favicon.ico')).headers.get('content-type')).toBe('image/svg+xml');
  const [, configuration = ''] = /createApiReference\('#app', (\{.*?\n {6}\})\)/s.exec(html) ?? [];
  // What would ask a service of somebody else, or send the document there, is off.
  expect(JSON.parse(configuration)).toMatchObject({
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
  });
});

test('closing answers what has come in, and refuses nothing half', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const held = server.check({}, { prefer: 'wait=25' });
  const events = Array.from({ length: 50 }, () => server.ok('events.create', { body: activityEvent() }));
  await Promise.all(events);
  await server.server.close();
  expect((await held).decision).toBe('require_approval');
});
