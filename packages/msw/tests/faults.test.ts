import { Actlog, type Clock, RateLimitError } from '@actlog/client';
import type { HttpHandler } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HandlersDispatcher } from '../src/node/index.ts';

const mock = actlogMock();
const server = setupServer(...mock.handlers);
const sleeps: number[] = [];
const tryLimitMs = 30_000;
/** Clock on which retry delays end at once; the time limit of an attempt uses the test's timers. */
const clock: Clock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  random: () => 0.5,
  setTimeout: (callback, delayMs) => {
    // What is left of the limit when the attempt starts.
    if (delayMs > tryLimitMs / 2) return setTimeout(callback, delayMs);
    sleeps.push(delayMs);
    return queueMicrotask(callback);
  },
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
const client = new Actlog({
  timeoutMs: 10 * tryLimitMs,
  ...mock.options,
  dispatcher: new HandlersDispatcher(server),
  clock,
});
const event = { agentId: 'a', sessionId: 's', category: 'note', payload: {} };

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  server.resetHandlers();
  mock.reset();
  sleeps.length = 0;
});
afterAll(() => server.close());

function statuses(): number[] {
  return mock.requests().map(({ status }) => status);
}

it('limits the rate for the given number of requests, with Retry-After', async () => {
  server.use(mock.rateLimited({ times: 2, retryAfter: 7 }));
  await client.events.create(event);
  expect(statuses()).toEqual([429, 429, 202]);
  expect(sleeps).toHaveLength(2);
  for (const slept of sleeps) expect(slept).toBeGreaterThanOrEqual(7000);
});

it('limits one endpoint only', async () => {
  server.use(mock.rateLimited({ endpoint: 'events.create' }));
  await client.agents.create({ name: 'bot' });
  await expect(client.events.create(event)).rejects.toBeInstanceOf(RateLimitError);
  expect(mock.requests('events.create').map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  expect(mock.events()).toEqual([]);
});

it('is down behind a gateway', async () => {
  server.use(mock.down({ times: 1, status: 502 }), mock.down({ times: 2, retryAfter: 3 }));
  await client.agents.create({ name: 'bot' });
  expect(statuses()).toEqual([502, 503, 503, 201]);
  server.use(mock.down());
  await expect(Promise.resolve(client.sessions.list())).rejects.toMatchObject({ status: 503 });
});

it('fails with a code of the envelope', async () => {
  server.use(mock.failing({ code: 'PERMISSION_DENIED', endpoint: ['policies.list', 'policies.get'] }));
  await expect(Promise.resolve(client.policies.list())).rejects.toMatchObject({
    status: 403,
    code: 'PERMISSION_DENIED',
  });
  await expect(Promise.resolve(client.agents.list())).resolves.toMatchObject({ items: [] });
});

it.each(['RATE_LIMITED', 'OVERLOADED'] as const)('sends Retry-After when it fails with %s', async (code) => {
  server.use(mock.failing({ code, times: 1 }));
  await client.events.create(event);
  expect(mock.requests()).toHaveLength(2);
  expect(sleeps).toHaveLength(1);
  expect(sleeps[0]).toBeGreaterThanOrEqual(1000);
});

it('sends a request id on errors of the service but not of a gateway', async () => {
  const failure = async (fault: HttpHandler): Promise<unknown> => {
    server.use(fault);
    const [result] = await Promise.allSettled([client.withOptions({ maxRetries: 0 }).policies.get('p')]);
    return result.status === 'rejected' && (result.reason as { requestId?: string }).requestId;
  };
  const ids = [
    await failure(mock.rateLimited()),
    await failure(mock.rateLimited()),
    await failure(mock.failing()),
  ];
  expect(ids).toEqual(ids.map(() => expect.any(String)));
  expect(new Set(ids).size).toBe(ids.length);
  expect(await failure(mock.down())).toBeUndefined();
});

it('refuses the connection, so that the request can be retried', async () => {
  server.use(mock.unreachable({ times: 1 }));
  await client.policies.create({ name: 'p', effect: 'allow' });
  expect(statuses()).toEqual([0, 201]);
  server.use(mock.unreachable());
  const list = Promise.resolve(client.agents.list());
  await expect(list).rejects.toMatchObject({ name: 'APIConnectionError', maybeSent: false });
});

it('loses the response of a handled request', async () => {
  server.use(mock.responseLost({ times: 2 }));
  await client.events.create(event);
  expect(mock.requests('events.create').map(({ status }) => status)).toEqual([0, 0, 202]);
  expect(mock.events()).toHaveLength(1); // its id made the retries safe
  server.use(mock.responseLost({ endpoint: 'agents.create' }));
  const made = client.agents.create({ name: 'once' });
  await expect(made).rejects.toMatchObject({ name: 'APIConnectionError', maybeSent: true });
  expect(mock.state.agents.map(({ name }) => name)).toContain('once');
});

it('is slow on the timers of the test', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    server.use(mock.slow({ delayMs: 60_000, endpoint: 'events.create', times: 1 }));
    let isTaken = false;
    const sent = Promise.resolve(client.events.create(event)).then(() => {
      isTaken = true;
    });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(isTaken).toBe(false);
    expect(mock.events()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await sent;
    expect(mock.events()).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

it('does not handle requests that were aborted during the delay', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const started = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  try {
    server.use(mock.slow({ delayMs: 60_000 }));
    const hasty = client.withOptions({ timeoutMs: tryLimitMs, maxRetries: 0 });
    const sent = expect(Promise.resolve(hasty.events.create(event))).rejects.toMatchObject({
      name: 'APITimeoutError',
    });
    const delays = () => started.mock.results.filter((_, index) => started.mock.calls[index]?.[1] === 60_000);
    while (delays().length === 0) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(tryLimitMs);
    await sent;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(mock.events()).toEqual([]);
    expect(cleared).toHaveBeenCalledWith(delays()[0]?.value);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

it('rejects invalid options', () => {
  expect(() => mock.rateLimited({ times: 0 })).toThrow('times must be an integer of at least 1, got 0.');
  expect(() => mock.rateLimited({ retryAfter: 1.5 })).toThrow('retryAfter must be an integer');
  expect(() => mock.slow({ delayMs: -1 })).toThrow('delayMs must be');
  expect(() => mock.down({ endpoint: 'events.delete' as 'events.create' })).toThrow(
    'unknown endpoint "events.delete"',
  );
  expect(() => mock.failing({ code: 'OOPS' as 'INTERNAL' })).toThrow('unknown code "OOPS"; use one of');
});
