import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Actlog } from '@actlog/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, raw, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, testKey, transports } from './test-client.ts';

const server = new ScriptedServer();
const elsewhere = new ScriptedServer();
beforeAll(() => Promise.all([server.start(), elsewhere.start()]));
afterAll(() => Promise.all([server.stop(), elsewhere.stop()]));

const html = '<html><body>Bad gateway, secret inside</body></html>';

describe.each(transports)('strange answers over %s', (name, options) => {
  const client = () => testClient(server.origin, { ...options, maxRetries: 0 }).client;

  it.each([
    ['HTML with success', raw(200, html, { 'content-type': 'text/html' }), /not JSON \(text\/html/],
    ['an empty body', raw(200, ''), /empty body/],
    ['204', raw(204, ''), /empty body/],
    ['JSON that is cut', raw(200, '{"id": "agt', { 'content-type': 'application/json' }), /not JSON/],
    ['an array', json(200, []), /an array/],
    ['null', json(200, null), /null/],
    ['a number', json(200, 7), /a number/],
    ['a text', json(200, 'secret inside'), /a string/],
  ])('%s where an object was expected', async (_what, script, message) => {
    server.script(script);
    const error = await rejection(client().agents.get('agt_1'));
    expect(error).toMatchObject({
      name: 'ResponseShapeError',
      code: 'RESPONSE_SHAPE',
      path: '/v1/agents/agt_1',
    });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('secret inside');
  });

  it.each([
    ['an update', (client: Actlog) => client.agents.update('a 1', { name: 'n' })],
    ['a change of a policy', (client: Actlog) => client.policies.update('a 1', { name: 'n' })],
    ['an archival', (client: Actlog) => client.policies.archive('a 1')],
    ['a decision', (client: Actlog) => client.guardian.pendingActions.decide('a 1', { decision: 'deny' })],
  ])('%s may be answered without a body, and gives the identifier', async (_what, change) => {
    for (const status of [200, 204]) {
      server.script(raw(status, ''));
      expect(await change(client())).toEqual({ id: 'a 1' });
    }
  });

  it.each([
    ['a creation', (client: Actlog) => client.agents.create({ name: 'n' })],
    [
      'a check',
      (client: Actlog) =>
        client.policies.check({ agentId: 'a', action: { toolName: 't', argumentsHash: 'sha256:00' } }),
    ],
  ])('%s without a body is a clear error: it has nothing to go on with', async (_what, call) => {
    server.script(raw(204, ''));
    expect((await rejection(call(client()))).message).toMatch(/empty body/);
  });

  it.each([
    ['no content type', {}],
    ['another content type', { 'content-type': 'text/plain' }],
    ['a byte order mark', { 'content-type': 'application/json' }],
  ])('JSON with %s is read all the same', async (what, headers) => {
    server.script(raw(200, `${what === 'a byte order mark' ? '\uFEFF' : ''}{"id":"agt_1"}`, headers));
    expect(await client().agents.get('agt_1')).toEqual({ id: 'agt_1' });
  });

  it.each([
    ['502 as HTML', raw(502, html, { 'content-type': 'text/html' }), 'ServiceUnavailableError', 'HTTP_502'],
    ['401 without a body', raw(401, ''), 'AuthenticationError', 'HTTP_401'],
    ['404 as an array', json(404, [1]), 'NotFoundError', 'HTTP_404'],
    [
      '500 with an envelope of the wrong type',
      json(500, { error: 'secret inside' }),
      'InternalServerError',
      'HTTP_500',
    ],
    [
      'a code that beats the status',
      json(418, { error: { code: 'NOT_FOUND', message: 'x' } }),
      'NotFoundError',
      'NOT_FOUND',
    ],
    ['an unknown code', json(409, { error: { code: 'NEW', message: 'x' } }), 'ConflictError', 'NEW'],
    [
      'a code that every object has',
      json(400, { error: { code: 'constructor', message: 'x' } }),
      'ValidationError',
      'constructor',
    ],
  ])('%s', async (_what, script, className, code) => {
    server.script(script);
    const error = await rejection(client().agents.get('agt_1'));
    expect(error).toMatchObject({ name: className, code });
    expect(error.message).not.toContain('secret inside');
  });

  it.each([301, 302, 307, 308])('a redirect (%i) to another host is not followed', async (status) => {
    elsewhere.script(json(200, {}));
    server.script(raw(status, '', { location: `${elsewhere.origin}/v1/agents/agt_1` }));
    const error = await rejection(client().agents.get('agt_1'));
    expect(error).toMatchObject({
      status,
      message: expect.stringContaining(`redirect to ${elsewhere.origin}`),
    });
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('%s that nobody asked for is undone', async (encoding, compress) => {
    server.script(raw(200, compress('{"id":"agt_1"}'), { 'content-encoding': encoding }));
    const { data, response } = await client().agents.get('agt_1').withResponse();
    expect(data).toEqual({ id: 'agt_1' });
    expect(await response.json()).toEqual({ id: 'agt_1' });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('%s of a large answer arrives whole', async (encoding, compress) => {
    const list = Array.from({ length: 50_000 }, (_unused, index) => `item ${index}`);
    server.script(raw(200, compress(JSON.stringify({ list })), { 'content-encoding': encoding }));
    expect((await client().agents.get('agt_1')).list).toHaveLength(50_000);
  });

  it.each(['gzip', 'br'])('%s that is none is a clear error', async (encoding) => {
    server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': encoding }));
    const error = await rejection(client().agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
  });

  it('a small answer that unfolds without end is bounded', async () => {
    server.script(raw(200, gzipSync(Buffer.alloc(20_000_000, ' ')), { 'content-encoding': 'gzip' }));
    const call = client().agents.get('agt_1', { maxResponseBytes: 100_000 });
    expect(await rejection(call)).toMatchObject({ message: expect.stringContaining('maxResponseBytes') });
  });

  it('an answer of a gibibyte is bounded', async () => {
    let sent = 0;
    const piece = Buffer.alloc(1024 * 1024, ' ');
    const endless: Script = (response) => {
      response.writeHead(200, { 'content-length': 1024 ** 3 });
      const more = () => {
        while (!response.destroyed && sent < 1024 ** 3) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
      };
      more();
    };
    server.script(endless);
    const call = client().agents.get('agt_1', { maxResponseBytes: 3_000_000 });
    expect(await rejection(call)).toMatchObject({
      message: expect.stringContaining('larger than 3000000 bytes'),
    });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('64 KiB of headers are a clear error', async () => {
    server.script(json(200, {}, { 'x-large': 'x'.repeat(65_536) }));
    const error = await rejection(client().agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
    if (name === 'undici') expect(error.message).toContain('HEADERS_OVERFLOW');
  });

  it('headers that come twice do no harm', async () => {
    server.script(
      json(200, { id: 'agt_1' }, { 'x-request-id': ['one', 'two'], 'set-cookie': ['a=1', 'b=2'] }),
    );
    const { requestId, response } = await client().agents.get('agt_1').withResponse();
    expect(requestId).toBe('one, two');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('an error tells every finding that its message leaves out, also one in the same words', async () => {
    const message = 'is missing; it must be a string';
    const details = ['agentId', 'sessionId', ''].map((path) => ({ path, code: 'c', message }));
    const body = { error: { code: 'VALIDATION_ERROR', message: `agentId: ${message}.`, details } };
    server.script(json(400, body), json(400, { error: { ...body.error, message: 'No.' } }));
    expect((await rejection(client().agents.get('a'))).message).toContain(
      `[sessionId: ${message}; body: ${message}]`,
    );
    expect((await rejection(client().agents.get('a'))).message).toContain(`body: ${message}`);
  });

  it('a key that comes back as a code or a request id is shown nowhere', async () => {
    const echo = { error: { code: testKey, message: 'bad' } };
    server.script(json(400, echo, { 'x-request-id': testKey }));
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => lines.push(line);
    const logger = { error: log, warn: log, info: log, debug: log };
    const { client: logging } = testClient(server.origin, { ...options, logger, logLevel: 'debug' });
    const error = await rejection(logging.agents.get('a'));
    expect(error).toMatchObject({ code: 'al_test_[redacted]', requestId: 'al_test_[redacted]' });
    expect(lines).toHaveLength(1);
    expect(`${error.stack} ${JSON.stringify([error, lines])}`).not.toContain(testKey);
  });

  it('an error shows neither the key nor the body, however it is printed', async () => {
    const echo = {
      error: {
        code: 'VALIDATION_ERROR',
        message: `bad ${testKey}\n${'x'.repeat(5_000)}`,
        details: [{ path: 'name', code: 'c', message: `not ${testKey}`, input: 'secret inside' }],
      },
    };
    server.script(json(400, echo, { 'x-request-id': 'req_1' }));
    const error = await rejection(client().agents.create({ name: 'secret inside' }));
    const { inspect } = await import('node:util');
    for (const text of [
      error.message,
      error.stack,
      inspect(error, { depth: 9 }),
      JSON.stringify(error),
      String(error),
    ]) {
      expect(text).not.toMatch(/0123456789secret|secret inside/);
    }
    expect(error.message.length).toBeLessThan(1_000);
    expect(error).toMatchObject({ name: 'ValidationError', requestId: 'req_1', details: echo.error.details });
    expect(error.message).toContain('name: not al_test_[redacted]');
  });
});

describe('strange answers over undici alone', () => {
  it.each(['gzip', 'br', 'unknown'])('%s without a body is no body', async (encoding) => {
    const { client } = testClient(server.origin);
    for (const [method, status] of [
      ['HEAD', 200],
      ['DELETE', 204],
      ['DELETE', 200],
    ] as const) {
      server.script(raw(status, '', { 'content-encoding': encoding }));
      expect(await client.request(method, '/v1/x')).toBeUndefined();
    }
  });

  it('an encoding that nobody knows is a clear error', async () => {
    server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': 'unknown' }));
    const { client } = testClient(server.origin, { maxRetries: 0 });
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'ResponseShapeError', status: 200 });
    expect(error.message).toContain('content encoding "unknown"');
  });

  it.each(['gzip', 'br', 'zstd'])(
    'what is no %s is a clear error, and is not asked for again',
    async (encoding) => {
      server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': encoding }));
      for (const [, options] of transports) {
        const error = await rejection(testClient(server.origin, options).client.agents.get('agt_1'));
        expect(error).toMatchObject({ name: 'ResponseShapeError', status: 200, attempts: 1 });
        expect(error.message).toMatch(/the answer cannot be read \(\w+\)/);
      }
    },
  );

  it('gzip that lacks its checksum is a clear error, though its text seems whole', async () => {
    server.script(raw(200, gzipSync('{"id":"agt_1"}').subarray(0, -8), { 'content-encoding': 'gzip' }));
    const { client } = testClient(server.origin);
    const error = await rejection(client.agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
  });
});
