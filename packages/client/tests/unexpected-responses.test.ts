import { inspect } from 'node:util';
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

describe.each(transports)('unexpected responses over %s', (name, options) => {
  const client = () => testClient(server.origin, { ...options, maxRetries: 0 }).client;

  it.each([
    ['HTML with success', raw(200, html, { 'content-type': 'text/html' }), /not JSON \(text\/html/],
    ['an empty body', raw(200, ''), /empty body/],
    ['204', raw(204, ''), /empty body/],
    ['truncated JSON', raw(200, '{"id": "agt', { 'content-type': 'application/json' }), /not JSON/],
    ['an array', json(200, []), /an array/],
    ['null', json(200, null), /null/],
    ['a number', json(200, 7), /a number/],
    ['a string', json(200, 'secret inside'), /a string/],
  ])('rejects %s instead of an object', async (_what, script, message) => {
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
  ])('returns the identifier for %s without a response body', async (_what, change) => {
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
  ])('rejects %s without a response body', async (_what, call) => {
    for (const headers of [{}, { location: '' }, { location: 'https://example.com' }, { location: '/%E0' }]) {
      server.script(raw(204, '', headers));
      expect((await rejection(call(client()))).message).toMatch(/empty body/);
    }
  });

  it.each([
    ['an agent', (client: Actlog) => client.agents.create({ name: 'n' })],
    ['a policy', (client: Actlog) => client.policies.create({ name: 'n', effect: 'deny' })],
    ['a webhook', (client: Actlog) => client.notificationChannels.create({ url: 'https://example.com' })],
  ])(
    'returns the identifier that Location names, for %s created without a response body',
    async (_what, create) => {
      for (const location of [
        '/v1/things/a%201',
        'https://example.com/v1/things/a%201/?x=1#y',
        'things/a%201',
      ]) {
        server.script(raw(201, '', { location }));
        expect(await create(client())).toEqual({ id: 'a 1' });
      }
    },
  );

  it.each<[string, Script, unknown]>([
    ['another envelope', json(418, { fault: { reason: 'tea' } }), { fault: { reason: 'tea' } }],
    ['the envelope', json(418, { error: { code: 'TEA' } }), { error: { code: 'TEA' } }],
    ['text', raw(418, 'short and stout', { 'content-type': 'text/plain' }), 'short and stout'],
    ['a repeated key', json(418, { sent: testKey }), { sent: 'al_test_[redacted]' }],
    ['nothing', raw(418, ''), undefined],
  ])('keeps the body of an error with %s, and does not print it', async (_what, script, body) => {
    server.script(script);
    const error = await rejection(client().agents.get('a'));
    expect(error.body).toEqual(body);
    expect(Object.keys(error)).not.toContain('body');
    expect(inspect(error)).not.toMatch(/tea|stout/);
    expect(JSON.stringify(error)).not.toMatch(/tea|stout/);
  });

  it.each([
    ['no content type', {}],
    ['another content type', { 'content-type': 'text/plain' }],
    ['a byte order mark', { 'content-type': 'application/json' }],
  ])('parses JSON with %s', async (what, headers) => {
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
      'a code that overrides the status',
      json(418, { error: { code: 'NOT_FOUND', message: 'x' } }),
      'NotFoundError',
      'NOT_FOUND',
    ],
    ['an unknown code', json(409, { error: { code: 'NEW', message: 'x' } }), 'ConflictError', 'NEW'],
    [
      'a code named like an object property',
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

  it.each([301, 302, 307, 308])('does not follow a redirect (%i) to another host', async (status) => {
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
  ])('decodes unsolicited %s', async (encoding, compress) => {
    server.script(raw(200, compress('{"id":"agt_1"}'), { 'content-encoding': encoding }));
    const { data, response } = await client().agents.get('agt_1').withResponse();
    expect(data).toEqual({ id: 'agt_1' });
    expect(await response.json()).toEqual({ id: 'agt_1' });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('decodes a large %s response completely', async (encoding, compress) => {
    const list = Array.from({ length: 50_000 }, (_unused, index) => `item ${index}`);
    server.script(raw(200, compress(JSON.stringify({ list })), { 'content-encoding': encoding }));
    expect((await client().agents.get('agt_1')).list).toHaveLength(50_000);
  });

  it.each(['gzip', 'br'])('rejects invalid %s with a clear error', async (encoding) => {
    server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': encoding }));
    const error = await rejection(client().agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
  });

  it('limits the decoded size of a small compressed response', async () => {
    server.script(raw(200, gzipSync(Buffer.alloc(20_000_000, ' ')), { 'content-encoding': 'gzip' }));
    const call = client().agents.get('agt_1', { maxResponseBytes: 100_000 });
    expect(await rejection(call)).toMatchObject({ message: expect.stringContaining('maxResponseBytes') });
  });

  it('limits a response of one gibibyte', async () => {
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

  it('rejects 64 KiB of headers with a clear error', async () => {
    server.script(json(200, {}, { 'x-large': 'x'.repeat(65_536) }));
    const error = await rejection(client().agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
    if (name === 'undici') expect(error.message).toContain('HEADERS_OVERFLOW');
  });

  it('accepts repeated headers', async () => {
    server.script(
      json(200, { id: 'agt_1' }, { 'x-request-id': ['one', 'two'], 'set-cookie': ['a=1', 'b=2'] }),
    );
    const { requestId, response } = await client().agents.get('agt_1').withResponse();
    expect(requestId).toBe('one, two');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('adds all findings missing from the message, including equal texts', async () => {
    const message = 'is missing; it must be a string';
    const details = ['agentId', 'sessionId', ''].map((path) => ({ path, code: 'c', message }));
    const body = { error: { code: 'VALIDATION_ERROR', message: `agentId: ${message}.`, details } };
    server.script(json(400, body), json(400, { error: { ...body.error, message: 'No.' } }));
    expect((await rejection(client().agents.get('a'))).message).toContain(
      `[sessionId: ${message}; body: ${message}]`,
    );
    expect((await rejection(client().agents.get('a'))).message).toContain(`body: ${message}`);
  });

  it('redacts an API key echoed as a code or a request id', async () => {
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

  it('shows neither the key nor the body in a printed error', async () => {
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

describe('unexpected responses over undici only', () => {
  it.each(['gzip', 'br', 'unknown'])('accepts %s without a body', async (encoding) => {
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

  it('rejects an unknown encoding with a clear error', async () => {
    server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': 'unknown' }));
    const { client } = testClient(server.origin, { maxRetries: 0 });
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'ResponseShapeError', status: 200 });
    expect(error.message).toContain('content encoding "unknown"');
  });

  it.each(['gzip', 'br', 'zstd'])(
    'rejects an invalid %s body with a clear error, without a retry',
    async (encoding) => {
      server.script(raw(200, '{"id":"agt_1"}', { 'content-encoding': encoding }));
      for (const [, options] of transports) {
        const error = await rejection(testClient(server.origin, options).client.agents.get('agt_1'));
        expect(error).toMatchObject({ name: 'ResponseShapeError', status: 200, attempts: 1 });
        expect(error.message).toMatch(/the response cannot be decoded \(\w+\)/);
      }
    },
  );

  it('rejects gzip without its checksum, although the text seems complete', async () => {
    server.script(raw(200, gzipSync('{"id":"agt_1"}').subarray(0, -8), { 'content-encoding': 'gzip' }));
    const { client } = testClient(server.origin);
    const error = await rejection(client.agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
  });
});
