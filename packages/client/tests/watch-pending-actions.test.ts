import type { PendingAction } from '@actlog/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, reset, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';
import { TestClock } from './test-clock.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await new ScriptedServer().start();
});
afterAll(() => server.stop());

const held = (id: string | number, more = {}) => ({ id, status: 'pending', ...more });

/** Responds with a page of held actions. */
const page = (...items: object[]): Script => json(200, { items, nextCursor: null });

/** Watches until the given number of actions has appeared, and returns their ids. */
async function idsOf(watched: AsyncIterable<PendingAction>, count: number): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const action of watched) {
    ids.push(action.id);
    if (ids.length === count) break;
  }
  return ids;
}

describe.each(transports)('watching pending actions over %s', (_name, transport) => {
  const watching = (options = {}) => {
    const { client, clock } = testClient(server.origin, { maxRetries: 0, ...transport, ...options });
    return { pendingActions: client.guardian.pendingActions, clock };
  };

  it('gives each action once, as it appears, the oldest first', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id, index) =>
      held(id, { createdAt: `2026-01-0${index + 1}` }),
    );
    server.script(
      page(b as object, a as object),
      page(b as object),
      page(d as object, c as object, b as object),
    );
    expect(await idsOf(watching().pendingActions.watch(), 4)).toEqual(['a', 'b', 'c', 'd']);
    expect(server.requests.map(({ url }) => url)).toEqual(Array(3).fill('/v1/guardian/pending-actions'));
  });

  it('reads all pages, and sends filters', async () => {
    server.script(json(200, { items: [held('a')], nextCursor: 'next' }), page(held('b')));
    const watched = watching().pendingActions.watch({ agentId: 'billing', sessionId: 's 1' });
    expect(await idsOf(watched, 2)).toEqual(['a', 'b']);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/guardian/pending-actions?agentId=billing&sessionId=s%201',
      '/v1/guardian/pending-actions?agentId=billing&sessionId=s%201&cursor=next',
    ]);
  });

  it('polls more slowly while nothing appears', async () => {
    server.script(page(), page(), page(), page(held('a')), page(held('b')));
    const { pendingActions, clock } = watching({ clock: Object.assign(new TestClock(), { chance: 1 }) });
    await idsOf(pendingActions.watch({ intervalMs: 1_000, maxIntervalMs: 2_000 }), 2);
    expect(clock.delays).toEqual([1_500, 2_000, 2_000, 1_000]);
  });

  it('spreads polls at random', async () => {
    server.script(page(held('a')), page(held('b')));
    const { pendingActions, clock } = watching({ clock: Object.assign(new TestClock(), { chance: 0 }) });
    await idsOf(pendingActions.watch(), 2);
    expect(clock.delays).toEqual([1_500]);
  });

  it('survives failures, and honors Retry-After', async () => {
    server.script(
      failure(503, 'OVERLOADED'),
      page(held('a')),
      failure(429, 'RATE_LIMITED', { 'retry-after': '500' }),
      reset,
      failure(500, 'INTERNAL'),
      page(held('a'), held('b')),
    );
    const { pendingActions, clock } = watching({ clock: Object.assign(new TestClock(), { chance: 1 }) });
    expect(await idsOf(pendingActions.watch(), 2)).toEqual(['a', 'b']);
    expect(clock.delays).toEqual([4_000, 2_000, 500_000, 8_000, 15_000]);
  });

  it('warns about a failure, without a secret', async () => {
    server.script(failure(503, 'OVERLOADED'), page(held('a')));
    const lines: unknown[][] = [];
    const logger = { warn: (...line: unknown[]) => lines.push(line) } as never;
    await idsOf(watching({ logger, logLevel: 'warn' }).pendingActions.watch(), 1);
    expect(lines).toEqual([
      [
        '[actlog] pending actions could not be listed; trying again',
        { code: 'OVERLOADED', status: 503, requestId: undefined, delayMs: 4_000 },
      ],
    ]);
  });

  it('throws errors that trying again cannot fix', async () => {
    server.script(page(held('a')), failure(403, 'PERMISSION_DENIED'));
    const watched = watching().pendingActions.watch();
    expect(await rejection(idsOf(watched, 2))).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(server.requests).toHaveLength(2);
  });

  it('ends without an error when the signal is aborted during a delay', async () => {
    server.script(page(held('a')));
    const controller = new AbortController();
    const { pendingActions, clock } = watching();
    const watched = pendingActions.watch({ signal: controller.signal });
    expect(await watched.next()).toMatchObject({ value: { id: 'a' } });
    clock.holdDelays();
    const started = clock.timerStarted();
    const next = watched.next();
    await started;
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(clock.running).toBe(0);
  });

  it('ends without an error when the signal is aborted during a request', async () => {
    server.script(() => {});
    const controller = new AbortController();
    const next = watching().pendingActions.watch({ signal: controller.signal }).next();
    await server.received(1);
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('sends nothing if the signal is aborted before', async () => {
    server.script(page(held('a')));
    const watched = watching().pendingActions.watch({ signal: AbortSignal.abort() });
    expect(await watched.next()).toEqual({ done: true, value: undefined });
    expect(server.requests).toEqual([]);
  });

  it('ends a request in progress when the loop is ended', async () => {
    server.script(() => {});
    const watched = watching().pendingActions.watch();
    const next = watched.next();
    await server.received(1);
    expect(await watched.return(undefined)).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('gives no further action after an abort', async () => {
    server.script(page(held('b'), held('a')));
    const controller = new AbortController();
    const ids: unknown[] = [];
    for await (const { id } of watching().pendingActions.watch({ signal: controller.signal })) {
      ids.push(id);
      controller.abort();
    }
    expect(ids).toHaveLength(1);
  });

  it('leaves out actions that are decided', async () => {
    server.script(page(held('a', { status: 'approved' }), held('b')));
    expect(await idsOf(watching().pendingActions.watch(), 1)).toEqual(['b']);
  });

  it('remembers an action that is missing from a few polls', async () => {
    server.script(page(held('a')), page(), page(), page(held('a'), held('b')));
    expect(await idsOf(watching().pendingActions.watch(), 2)).toEqual(['a', 'b']);
  });

  it('distinguishes actions of a service with another name for their id', async () => {
    const ticket = (name: string, agentId = 'billing') => ({ ticket: name, agentId });
    server.script(json(200, { rows: [ticket('t1'), ticket('t2')], hints: [], nextCursor: null }));
    const watched = watching().pendingActions.watch({ idKey: 'ticket', itemsKey: 'rows' });
    const found = [await watched.next(), await watched.next()];
    expect(found.map(({ value }) => value?.ticket)).toEqual(['t1', 't2']);
    await watched.return(undefined);
    const guessing = watching().pendingActions.watch({ itemsKey: 'rows' });
    expect((await rejection(guessing.next())).message).toBe(
      'record has no field that identifies it: pass the name of one of its fields (ticket, agentId).',
    );
  });

  it.each([
    [{ intervalMs: 0 }, /^intervalMs must be a positive number of milliseconds, got 0/],
    [{ maxIntervalMs: Number.NaN }, /^maxIntervalMs must be a positive number of milliseconds, got NaN/],
    [{ signal: new AbortController() }, /^signal must be an AbortSignal/],
  ])('rejects %j', async (options, message) => {
    server.script(page(held('a')));
    expect(
      (
        await rejection(
          watching()
            .pendingActions.watch(options as never)
            .next(),
        )
      ).message,
    ).toMatch(message);
    expect(server.requests).toEqual([]);
  });
});
