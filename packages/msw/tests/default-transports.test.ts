import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { setupServer } from 'msw/node';
import { Agent, Pool } from 'undici';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { interceptUndici, type UndiciInterception } from '../src/node/index.ts';
import { watchNetwork } from './no-network.ts';

const mock = actlogMock();
const server = setupServer(...mock.handlers);
let undici: UndiciInterception;
/** Class that all pools of undici share. */
const pools = Object.getPrototypeOf(Agent.prototype) as { dispatch: unknown };
const pristine = pools.dispatch;

beforeAll(() => {
  server.listen({ onUnhandledFrame: 'error' });
  undici = interceptUndici(mock, server);
});
afterEach(() => {
  vi.restoreAllMocks();
  server.resetHandlers();
  mock.reset();
});
afterAll(() => {
  undici.close();
  server.close();
});

it('responds to a client with only URL and key, without a connection', async () => {
  const connect = watchNetwork();
  const client = new Actlog(mock.options);
  expect(client).toMatchObject({ usesDefaultPool: true, fetch: undefined });
  await client.events.create({ agentId: 'a', sessionId: 's', category: 'note', payload: { text: 'ü' } });
  const { items } = await client.sessions.list();
  expect(items).toMatchObject([{ id: 's', agentId: 'a', eventCount: 1 }]);
  expect(mock.events()).toMatchObject([{ payload: { text: 'ü' } }]);
  expect(connect).not.toHaveBeenCalled();
});

it('receives every event of a recorder', async () => {
  const connect = watchNetwork();
  const recorder = new Recorder({ ...mock.options, agentId: 'bot', spool: false });
  for (let index = 0; index < 50; index += 1) {
    await recorder.toolCall({ toolName: 'search', arguments: { index } }, async () => index);
  }
  expect(await recorder.close()).toMatchObject({ delivered: 50, dropped: 0 });
  expect(mock.events({ agentId: 'bot' })).toHaveLength(50);
  expect(connect).not.toHaveBeenCalled();
});

it('works with URL and key from the environment', async () => {
  const connect = watchNetwork();
  for (const [name, value] of Object.entries(mock.env)) vi.stubEnv(name, value);
  try {
    await new Actlog().agents.create({ name: 'bot' });
  } finally {
    vi.unstubAllEnvs();
  }
  expect(mock.state.agents).toMatchObject([{ name: 'bot', registered: true }]);
  expect(connect).not.toHaveBeenCalled();
});

it('also responds to the global fetch', async () => {
  const client = new Actlog({ ...mock.options, fetch: (url, init) => fetch(url, init) });
  await expect(client.agents.get('nobody')).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(mock.requests()).toMatchObject([{ endpoint: 'agents.get', status: 404 }]);
});

it('does not affect requests to other addresses', async () => {
  const connect = watchNetwork();
  const pool = new Pool('https://elsewhere.test');
  const request = { origin: 'https://elsewhere.test', path: '/v1/events', method: 'GET' } as const;
  await expect(pool.request(request)).rejects.toThrow('a connection was opened');
  await pool.destroy();
  expect(connect).toHaveBeenCalled();
});

it('ends with the server, and with close', async () => {
  const watched = watchNetwork();
  const own = actlogMock({ baseURL: 'https://second.test' });
  const second = setupServer(...own.handlers);
  const agent = new Agent();
  const ask = () => agent.request({ origin: own.baseURL, path: '/healthz', method: 'GET' });
  using _ = interceptUndici(own, second);
  await expect(ask()).rejects.toThrow('a connection was opened');
  expect(watched).toHaveBeenCalledTimes(1);
  await agent.destroy();
});

it('restores undici when the last interception is closed', () => {
  expect(pools.dispatch).not.toBe(pristine);
  const another = interceptUndici(mock, server);
  undici.close();
  expect(pools.dispatch).not.toBe(pristine);
  another.close();
  another.close();
  expect(pools.dispatch).toBe(pristine);
});
