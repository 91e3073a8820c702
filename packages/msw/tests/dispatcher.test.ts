import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { HttpResponse, http, passthrough } from 'msw';
import { setupServer } from 'msw/node';
import { fetch, request } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HandlersDispatcher } from '../src/node/index.ts';

const mock = actlogMock();
const server = setupServer(...mock.handlers);
const dispatcher = new HandlersDispatcher(server);
const url = `${mock.baseURL}/v1/agents`;
const headers = { authorization: `Bearer ${mock.options.apiKey}`, 'content-type': 'application/json' };

afterEach(() => {
  server.resetHandlers();
  mock.reset();
});

it.each([
  ['an object', headers],
  ['a flat list', Object.entries(headers).flat()],
  ['pairs', new Map(Object.entries(headers))],
])('accepts headers as %s', async (_, given) => {
  const { statusCode } = await request(url, { dispatcher, headers: given });
  expect(statusCode).toBe(200);
});

it.each([
  ['text', () => '{"name":"bot"}'],
  ['bytes', () => Buffer.from('{"name":"bot"}')],
  ['a stream', () => Readable.from(['{"name":', '"bot"}'])],
])('accepts a body as %s', async (_, body) => {
  const response = await request(url, { dispatcher, method: 'POST', headers, body: body() });
  expect(await response.body.json()).toMatchObject({ name: 'bot', registered: true });
});

it('accepts a query next to the path', async () => {
  const options = { dispatcher, headers, query: { status: 'revoked', registered: ['true', 'false'] } };
  const { body } = await request(url, options);
  expect(await body.json()).toMatchObject({ error: { details: [{ path: 'query.registered' }] } });
});

it('serves undici’s fetch, and HEAD without a body', async () => {
  const response = await fetch(url, { dispatcher, headers });
  expect(await response.json()).toEqual({ items: [], nextCursor: null });
  const head = await request(url, { dispatcher, method: 'HEAD', headers });
  expect([head.statusCode, await head.body.text()]).toEqual([200, '']);
});

it('passes on separate cookies, and chunks as they are read', async () => {
  const pieces = Array.from({ length: 100 }, (_, index) => String(index).repeat(1000));
  server.use(
    http.get(url, () => {
      const body = Readable.toWeb(Readable.from(pieces.map((piece) => Buffer.from(piece))));
      return new HttpResponse(body as ReadableStream, {
        headers: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      });
    }),
  );
  const response = await request(url, { dispatcher, highWaterMark: 1 });
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(await text(response.body)).toBe(pieces.join(''));
});

it('aborts with the caller, even if the handler ignores it', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  server.use(
    http.get(url, ({ request: { signal } }) => {
      asked.resolve(signal);
      return new Promise<Response>(() => {});
    }),
  );
  const gone = new AbortController();
  const sent = request(url, { dispatcher, signal: gone.signal });
  const signal = await asked.promise;
  gone.abort(new Error('enough'));
  await expect(sent).rejects.toThrow('enough');
  expect(signal.aborted).toBe(true);
});

it('fails requests that no handler handles or that one passes through', async () => {
  await expect(request('https://elsewhere.test/a?secret=b', { dispatcher })).rejects.toThrow(
    /^No handler matches GET https:\/\/elsewhere\.test\/a; add one/,
  );
  server.use(http.get(url, () => passthrough()));
  await expect(request(url, { dispatcher })).rejects.toThrow('remove its passthrough()');
});

it('fails like undici if a handler throws or its response breaks off', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  server.use(
    http.get(url, () => {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error('torn')) });
      return new HttpResponse(body);
    }),
  );
  const { body } = await request(url, { dispatcher });
  await expect(body.text()).rejects.toThrow('torn');
  vi.restoreAllMocks();
});

it('ends waiting checks on reset', async () => {
  mock.addPolicy({ name: 'ask', effect: 'require_approval' });
  const body = JSON.stringify({ agentId: 'bot', action: { toolName: 't', argumentsHash: 'h' } });
  const sent = request(`${mock.baseURL}/v1/policies/check`, {
    dispatcher,
    method: 'POST',
    headers: { ...headers, prefer: 'wait=25' },
    body,
  });
  await vi.waitUntil(() => mock.state.pendingActions.length === 1);
  mock.reset();
  const response = await sent;
  expect(await response.body.json()).toMatchObject({ decision: 'allow', pendingActionId: null });
});
