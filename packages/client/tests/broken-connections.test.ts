import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { APIConnectionError } from '@actlog/client';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, reset, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
let closedPort: number;

beforeAll(async () => {
  await server.start();
  const short: Server = createServer();
  short.listen(0, '127.0.0.1');
  await once(short, 'listening');
  closedPort = (short.address() as { port: number }).port;
  short.close();
  await once(short, 'close');
});
afterAll(() => server.stop());

const ok = json(200, { id: 'agt_1', eventId: 'e', receivedAt: 'now', warnings: [] });
const event = { agentId: 'a', sessionId: 's', category: 'note', payload: {} };

/** Breaks the connection after part of the head or the body was sent. */
const breakAfter =
  (text: string): Script =>
  (response) => {
    const socket = response.socket as Socket;
    socket.write(text, () => socket.resetAndDestroy());
  };
const inHead = breakAfter('HTTP/1.1 200 OK\r\ncontent-type: appl');
const inBody = breakAfter('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":');
const cutShort: Script = (response) => {
  const socket = response.socket as Socket;
  socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":');
};

describe.each(transports)('broken connections over %s', (_name, options) => {
  it.each([
    ['before the response', reset],
    ['in the headers', inHead],
    ['in the body', inBody],
    ['by a premature end', cutShort],
  ])('%s: retries a request that is safe to repeat', async (_where, broken) => {
    const { client, clock } = testClient(server.origin, options);
    server.script(broken, broken, ok);
    await client.events.create(event);
    expect(server.requests).toHaveLength(3);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    expect(clock.delays).toEqual([250, 500]);
  });

  it.each([
    ['before the response', reset],
    ['in the headers', inHead],
    ['in the body', inBody],
  ])('%s: does not retry a request that may have been processed', async (_where, broken) => {
    const { client, clock } = testClient(server.origin, options);
    server.script(broken, ok);
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', maybeSent: true, attempts: 1, method: 'POST' });
    expect(clock.delays).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('retries a creation with an explicit idempotency key', async () => {
    const { client } = testClient(server.origin, options);
    server.script(reset, ok);
    await client.agents.create({ name: 'n' }, { idempotencyKey: 'mine' });
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', 'mine']);
  });

  it('always retries a refused connection, because nothing was sent', async () => {
    const { client, clock } = testClient(`http://127.0.0.1:${closedPort}`, options);
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'APIConnectionError', maybeSent: false, attempts: 4 });
    expect(error.message).toContain('ECONNREFUSED');
    expect(clock.delays).toEqual([250, 500, 1_000]);
  });

  it('always retries a host that does not resolve', async () => {
    const { client } = testClient('https://nowhere.invalid', { ...options, maxRetries: 1, proxy: undefined });
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'APIConnectionError', maybeSent: false, attempts: 2 });
  });

  it('prefers an error status to the failure of its body', async () => {
    const { client, clock } = testClient(server.origin, options);
    server.script(breakAfter('HTTP/1.1 503 No\r\nretry-after: 4\r\ncontent-length: 100\r\n\r\n{"err'), ok);
    await client.agents.create({ name: 'n' });
    expect(clock.delays).toEqual([4_000]);
  });

  it('rejects a response that is not HTTP without showing it', async () => {
    const { client } = testClient(server.origin, { ...options, maxRetries: 0 });
    server.script(breakAfter('SSH-2.0-secret banner\r\n\r\n'));
    const error = await rejection(client.agents.get('agt_1'));
    expect(['ResponseShapeError', 'APIConnectionError']).toContain(error.name);
    expect(error.message).not.toContain('banner');
  });
});

describe('a route lost after the request arrived', () => {
  let socket: Socket;
  const dispatcher = new Agent({
    connect: (_options, callback) => {
      socket = connect(Number(new URL(server.origin).port), '127.0.0.1', () => callback(null, socket));
    },
  });
  afterAll(() => dispatcher.destroy());

  it.each([
    ['undici', { dispatcher }],
    ['fetch', { fetch: (url: string, init: object) => undiciFetch(url, { ...init, dispatcher }) as never }],
  ])('does not retry over %s', async (_name, options) => {
    const lostRoute = Object.assign(new Error('read EHOSTUNREACH'), {
      code: 'EHOSTUNREACH',
      syscall: 'read',
    });
    server.script(() => socket.destroy(lostRoute), ok);
    const { client } = testClient(server.origin, options);
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'APIConnectionError', maybeSent: true, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('over undici', () => {
  it('reports a request that waits for a connection as not sent', async () => {
    let queued: (() => void) | undefined;
    const isQueued = new Promise<void>((resolve) => {
      queued = resolve;
    });
    // A pool without a free connection.
    const dispatcher = { dispatch: () => queued?.() } as never;
    const { client, clock } = testClient(server.origin, { maxRetries: 0, dispatcher });
    const waiting = client.agents.create({ name: 'n' });
    await isQueued;
    clock.expire(attemptLimitMs);
    expect(await rejection(waiting)).toMatchObject({ name: 'APITimeoutError', maybeSent: false });
  });
});
