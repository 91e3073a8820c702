import type { Session } from '@actlog/client';
import { type ConcurrentCall, mapConcurrent } from '@actlog/client/scripts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient } from './test-client.ts';

/** Calls that end when the test says so. */
function controlled() {
  const running = new Map<number, PromiseWithResolvers<string>>();
  const started: number[] = [];
  let mostRunning = 0;
  const signals: AbortSignal[] = [];
  const change = (item: number, { signal }: { signal: AbortSignal }) => {
    const call = Promise.withResolvers<string>();
    running.set(item, call);
    started.push(item);
    signals.push(signal);
    mostRunning = Math.max(mostRunning, running.size);
    return call.promise.finally(() => running.delete(item));
  };
  const end = (item: number) => running.get(item)?.resolve(`result ${item}`);
  return {
    change,
    end,
    fail: (item: number, error: Error) => running.get(item)?.reject(error),
    started,
    signals,
    most: () => mostRunning,
  };
}

/** Items that tell if their iteration was ended. */
function source(count: number) {
  const state = { taken: 0, ended: false };
  async function* items() {
    try {
      for (let item = 0; item < count; item += 1) {
        state.taken += 1;
        yield item;
      }
    } finally {
      state.ended = true;
    }
  }
  return { items: items(), state };
}

/** Lets pending promises settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('mapConcurrent', () => {
  it('gives results in the order of the items, whichever call ends first', async () => {
    const { change, end, started } = controlled();
    const results = mapConcurrent([0, 1, 2], change, { concurrency: 3 });
    const first = results.next();
    await settled();
    expect(started).toEqual([0, 1, 2]);
    end(2);
    end(1);
    await settled();
    end(0);
    expect(await first).toEqual({ done: false, value: 'result 0' });
    expect(await results.next()).toEqual({ done: false, value: 'result 1' });
    expect(await results.next()).toEqual({ done: false, value: 'result 2' });
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  it('runs no more calls than its limit, and takes no item before it is needed', async () => {
    const { change, end, started, most } = controlled();
    const { items, state } = source(100);
    const results = mapConcurrent(items, change, { concurrency: 3 });
    await settled();
    expect(state.taken).toBe(0);
    for (let item = 0; item < 10; item += 1) {
      const next = results.next();
      await settled();
      expect(started).toHaveLength(item + 3);
      end(item);
      expect(await next).toEqual({ done: false, value: `result ${item}` });
    }
    expect(most()).toBe(3);
    expect(state.taken).toBe(12);
    await results.return?.();
  });

  it('changes every item of a long list once', async () => {
    const { items, state } = source(1_000);
    const found: number[] = [];
    for await (const item of mapConcurrent(items, async (item) => item * 2)) found.push(item);
    expect(found).toEqual(Array.from({ length: 1_000 }, (_, index) => index * 2));
    expect(state).toEqual({ taken: 1_000, ended: true });
  });

  it('passes the position, and accepts functions that return no promise', async () => {
    const found: string[] = [];
    const results = mapConcurrent(new Set(['a', 'b']), (item, { index }) => `${item}${index}`, {
      concurrency: 1,
    });
    for await (const result of results) found.push(result);
    expect(found).toEqual(['a0', 'b1']);
  });

  it('throws a failure in its turn, ends the source and aborts the other calls', async () => {
    const { change, end, fail, signals } = controlled();
    const { items, state } = source(100);
    const results = mapConcurrent(items, change, { concurrency: 3 });
    const first = results.next();
    await settled();
    fail(1, new Error('call failed'));
    await settled();
    expect(signals[0]?.aborted).toBe(false);
    end(0);
    expect(await first).toEqual({ done: false, value: 'result 0' });
    expect((await rejection(results.next())).message).toBe('call failed');
    await settled();
    expect(state.ended).toBe(true);
    expect(signals.every((signal) => signal.aborted)).toBe(true);
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  it('throws a failure of the source after the results before it', async () => {
    async function* items() {
      yield 'a';
      throw new Error('source failed');
    }
    const results = mapConcurrent(items(), (item) => item);
    expect(await results.next()).toEqual({ done: false, value: 'a' });
    expect((await rejection(results.next())).message).toBe('source failed');
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  it('ends the source and aborts the calls when the loop is left', async () => {
    const { change, end, signals } = controlled();
    const { items, state } = source(100);
    const results = mapConcurrent(items, change, { concurrency: 2 });
    const first = results.next();
    await settled();
    end(0);
    await first;
    await results.return?.();
    await settled();
    expect(state.ended).toBe(true);
    expect(signals.every((signal) => signal.aborted)).toBe(true);
  });

  it('ends at once even if a call ignores its signal', async () => {
    const results = mapConcurrent([1], () => new Promise(() => {}));
    const next = results.next();
    await settled();
    await results.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('answers concurrent calls of next in order', async () => {
    const results = mapConcurrent([1, 2], async (item) => item);
    expect(await Promise.all([results.next(), results.next(), results.next()])).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: true, value: undefined },
    ]);
  });

  it.each([0, 1.5, Number.NaN, '8'])('rejects a concurrency of %j', (concurrency) => {
    expect(() => mapConcurrent([], () => {}, { concurrency: concurrency as number })).toThrow(
      /^concurrency must be an integer of at least 1, got/,
    );
  });
});

describe('mapConcurrent over a list', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await new ScriptedServer().start();
  });
  afterAll(() => server.stop());

  it('aborts the requests in progress when the loop is left, and sends no others', async () => {
    const aborted = Promise.withResolvers<void>();
    const list = json(200, { items: [{ id: 'a' }, { id: 'b' }], nextCursor: 'next' });
    server.script(list, (response, request) => {
      if (request.url.includes('/a/')) json(200, { score: 1 })(response, request);
      else response.once('close', aborted.resolve);
    });
    const { client } = testClient(server.origin);
    const sessions = client.sessions.list();
    const risk = ({ id }: Session, { signal }: ConcurrentCall) => client.sessions.risk(id, { signal });
    for await (const { score } of mapConcurrent(sessions, risk, { concurrency: 2 })) {
      expect(score).toBe(1);
      await server.received(3);
      break;
    }
    await aborted.promise;
    expect(server.requests.map(({ url }) => url).sort()).toEqual([
      '/v1/sessions',
      '/v1/sessions/a/risk',
      '/v1/sessions/b/risk',
    ]);
  });
});
