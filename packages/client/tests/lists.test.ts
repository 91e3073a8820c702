import { getEventListeners, once } from 'node:events';
import { Readable } from 'node:stream';
import type { Actlog, List, Session } from '@actlog/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, type Script, ScriptedServer, type SeenRequest } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const cursorOf = ({ url }: SeenRequest) => new URL(url, 'http://localhost').searchParams.get('cursor');
const cursors = () => server.requests.map(cursorOf);

/** Serves pages with the given number of sessions; the cursor is the page number. */
const pagesOf =
  (sizes: readonly number[], itemsName = 'items'): Script =>
  (response, request) => {
    const page = Number(cursorOf(request) ?? 0);
    const first = sizes.slice(0, page).reduce((sum, size) => sum + size, 0);
    const items = Array.from({ length: sizes[page] ?? 0 }, (_unused, index) => ({ id: `s${first + index}` }));
    const nextCursor = page + 1 < sizes.length ? String(page + 1) : null;
    json(200, { [itemsName]: items, nextCursor, total: 'kept' })(response, request);
  };

const ids = (count: number) => Array.from({ length: count }, (_unused, index) => `s${index}`);

describe.each(transports)('lists over %s', (_name, options) => {
  it('yields every item of every page, with the same limit and filters', async () => {
    server.script(pagesOf([2, 0, 3]));
    const { client } = testClient(server.origin, options);
    const seen: string[] = [];
    for await (const session of client.sessions.list({ limit: 3, agentId: 'a' })) seen.push(session.id);
    expect(seen).toEqual(ids(5));
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/sessions?limit=3&agentId=a',
      '/v1/sessions?limit=3&agentId=a&cursor=1',
      '/v1/sessions?limit=3&agentId=a&cursor=2',
    ]);
  });

  it('sends nothing before it is used, and nothing after the loop has ended', async () => {
    server.script(pagesOf([2, 2, 2]));
    const { client } = testClient(server.origin, options);
    const list = client.sessions.list();
    await new Promise(setImmediate);
    expect(server.requests).toHaveLength(0);
    for await (const session of list) if (session.id === 's2') break;
    expect(cursors()).toEqual([null, '1']);
  });

  it('prefetches the next page if enabled, and aborts it when the loop ends', async () => {
    let closed: Promise<unknown> | undefined;
    server.script(pagesOf([2, 2]), (response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
    });
    const { client, clock } = testClient(server.origin, options);
    for await (const _session of client.sessions.list({}, { prefetch: true })) {
      await server.received(2);
      break;
    }
    await closed;
    expect(clock.running).toBe(0);
  });

  type Sessions = ReturnType<Actlog['sessions']['list']>;
  const ways: [string, (list: Sessions) => AsyncIterator<unknown, undefined>][] = [
    ['its items', (list) => list[Symbol.asyncIterator]()],
    ['its pages', (list) => list.pages()],
    ['its mapped items', (list) => list.map(({ id }) => id)[Symbol.asyncIterator]()],
    [
      'its filtered mapped items',
      (list) =>
        list
          .filter(() => true)
          .map(({ id }) => id)
          .take(9)
          [Symbol.asyncIterator](),
    ],
  ];
  it.each(ways)('an iterator over %s that is left aborts the page on its way', async (_what, start) => {
    let closed: Promise<unknown> | undefined;
    server.script(pagesOf([1, 1]), (response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
    });
    const { client, clock } = testClient(server.origin, options);
    const { signal } = new AbortController();
    const iterator = start(client.sessions.list({}, { signal }));
    await iterator.next();
    const next = iterator.next();
    await server.received(2);
    const end = { done: true, value: undefined };
    expect(await iterator.return?.()).toEqual(end);
    expect(await next).toEqual(end);
    expect(await iterator.next()).toEqual(end);
    await closed;
    expect(clock.running).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('aborts the page request when a stream over it is destroyed', async () => {
    const { client } = testClient(server.origin, options);
    const list = client.sessions.list();
    for (const source of [list, list.pages(), list.map(({ id }) => id)]) {
      let closed: Promise<unknown> | undefined;
      server.script(pagesOf([1, 1]), (response) => {
        closed = new Promise((resolve) => response.on('close', resolve));
      });
      const stream = Readable.from(source).resume();
      await server.received(2);
      stream.destroy();
      await once(stream, 'close');
      await closed;
    }
  });

  it('aborts the page request with the reason of the signal', async () => {
    server.script(pagesOf([1, 1]), () => {});
    const { client } = testClient(server.origin, options);
    const controller = new AbortController();
    const items = rejection(client.sessions.list({}, { signal: controller.signal }).toArray());
    await server.received(2);
    controller.abort('enough');
    expect(await items).toMatchObject({ name: 'APIAbortError', cause: 'enough' });
  });

  it.each([
    ['items', (list: List<Session>) => list],
    ['mapped items', (list: List<Session>) => list.map(({ id }) => id)],
    ['pages', (list: List<Session>) => list.pages()],
  ])('ends the loop over its %s when the signal aborts', async (_what, of) => {
    for (const [sizes, prefetch] of [
      [[3], false],
      [[3, 3], false],
      [[3, 3], true],
    ] as const) {
      server.script(pagesOf([...sizes]));
      const { client } = testClient(server.origin, options);
      const controller = new AbortController();
      const { signal } = controller;
      let given = 0;
      const loop = async () => {
        for await (const _one of of(client.sessions.list({}, { signal, prefetch }))) {
          given += 1;
          if (prefetch) await server.received(2);
          controller.abort('enough');
        }
      };
      expect(await rejection(loop())).toMatchObject({ name: 'APIAbortError', cause: 'enough' });
      expect(given).toBe(1);
      expect(server.requests).toHaveLength(prefetch ? 2 : 1);
    }
  });

  it('throws the error of a later page when the loop reaches it', async () => {
    server.script(pagesOf([1, 1]), failure(403, 'PERMISSION_DENIED'));
    const { client } = testClient(server.origin, options);
    const seen: string[] = [];
    const loop = async () => {
      for await (const { id } of client.sessions.list({}, { prefetch: true })) seen.push(id);
    };
    expect(await rejection(loop())).toMatchObject({ name: 'PermissionDeniedError' });
    expect(seen).toEqual(['s0']);
  });
});

describe('pages', () => {
  it('are returned by await and getNextPage', async () => {
    server.script(pagesOf([2, 1]));
    const { client } = testClient(server.origin);
    const first = await client.sessions.list({ limit: 2 });
    expect(first).toMatchObject({
      items: [{ id: 's0' }, { id: 's1' }],
      nextCursor: '1',
      body: { total: 'kept' },
    });
    expect(JSON.parse(JSON.stringify(first))).toEqual({ items: first.items, nextCursor: '1' });
    expect(first.hasNextPage()).toBe(true);
    const second = await first.getNextPage();
    expect(await first.getNextPage()).toEqual(second); // a second call returns the same page
    expect(second?.hasNextPage()).toBe(false);
    expect(await second?.getNextPage()).toBeNull();
  });

  it('can be iterated, and resumed from a cursor', async () => {
    server.script(pagesOf([1, 1, 1]));
    const { client } = testClient(server.origin);
    const { value: first } = await client.sessions.list().pages().next();
    const rest = client.sessions.list({ cursor: first?.nextCursor ?? '' });
    expect(await rest.toArray()).toEqual([{ id: 's1' }, { id: 's2' }]);
  });

  it('iterate over the items of the following pages, as far as the loop goes', async () => {
    server.script(pagesOf([2, 0, 1, 1]));
    const { client } = testClient(server.origin);
    const page = await client.sessions.list();
    const seen: string[] = [];
    for await (const { id } of page) {
      seen.push(id);
      if (id === 's2') break;
    }
    expect(seen).toEqual(ids(3));
    expect(cursors()).toEqual([null, '1', '2']);
  });

  it('behave like other promises', async () => {
    const { client } = testClient(server.origin);
    server.script(failure(403, 'PERMISSION_DENIED'));
    const list = client.sessions.list();
    expect(await list.catch(({ code }) => code)).toBe('PERMISSION_DENIED');
    const ended: string[] = [];
    expect(await rejection(list.finally(() => ended.push('ended')))).toMatchObject({ status: 403 });
    expect(ended).toEqual(['ended']);
    expect(server.requests).toHaveLength(1);
  });

  it('are available with their response', async () => {
    server.script(json(200, { items: [], nextCursor: null }, { 'x-request-id': 'req_7' }));
    const { data, requestId } = await testClient(server.origin).client.agents.list().withResponse();
    expect({ items: data.items, requestId }).toEqual({ items: [], requestId: 'req_7' });
  });

  it('are found under any array name', async () => {
    const { client } = testClient(server.origin);
    for (const name of ['items', 'data', 'whatever']) {
      server.script(pagesOf([1, 1], name));
      expect(await client.sessions.list().toArray()).toEqual([{ id: 's0' }, { id: 's1' }]);
    }
    for (const name of ['pending_actions', 'records', 'entries']) {
      server.script(json(200, { [name]: [{ id: 'p' }], tags: ['x'], nextCursor: null }));
      expect(await client.guardian.pendingActions.list().toArray()).toEqual([{ id: 'p' }]);
    }
  });

  it.each([
    ['no array', { nextCursor: null }, /without an array/],
    ['two arrays of unknown names', { a: [], b: [], nextCursor: null }, /2 arrays/],
    ['no nextCursor', { items: [] }, /nextCursor is missing/],
    ['a nextCursor of the wrong type', { items: [], nextCursor: 7 }, /nextCursor is a number/],
  ])('with %s are rejected with a clear error', async (_what, body, message) => {
    server.script(json(200, body));
    const error = await rejection(testClient(server.origin).client.sessions.list());
    expect(error.name).toBe('ResponseShapeError');
    expect(error.message).toMatch(message);
  });

  it('are rejected after too many empty pages', async () => {
    server.script((response, request) => {
      json(200, { items: [], nextCursor: String(Number(cursorOf(request) ?? 0) + 1) })(response, request);
    });
    const error = await rejection(testClient(server.origin).client.sessions.list().toArray());
    expect(error.message).toMatch(/no items/);
  });

  it.each([0, 1.5, -1, Number.NaN])('reject a limit of %d', async (limit) => {
    const { client } = testClient(server.origin);
    expect(await rejection(client.sessions.list({ limit }))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('the events of a session', () => {
  it('are read page by page from the session detail', async () => {
    const detail = (events: unknown[], nextCursor?: string | null) =>
      json(200, { id: 's', agentIds: ['a'], toolNames: [], events, nextCursor });
    server.script(detail([{ eventId: '1' }], 'c'), detail([{ eventId: '2' }], null));
    const { client } = testClient(server.origin);
    expect(await client.sessions.events('s', { limit: 1 }).toArray()).toEqual([
      { eventId: '1' },
      { eventId: '2' },
    ]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/sessions/s?limit=1',
      '/v1/sessions/s?limit=1&cursor=c',
    ]);
    server.script(detail([{ eventId: '1' }]));
    expect(await client.sessions.events('s').toArray()).toHaveLength(1); // a service that returns all events at once
  });

  it('are found under another array name', async () => {
    const { client } = testClient(server.origin);
    for (const detail of [{ timeline: [{ at: 1 }] }, { data: [{ at: 1 }], tags: [] }]) {
      server.script(json(200, detail));
      expect(await client.sessions.events('s').toArray()).toEqual([{ at: 1 }]);
    }
    server.script(json(200, { id: 's' }));
    const error = await rejection(client.sessions.events('s').toArray());
    expect(error).toMatchObject({ name: 'ResponseShapeError' });
  });
});

describe('cursors', () => {
  it('that repeat are rejected, for cycles of any start and length', async () => {
    const tail = fc.integer({ min: 0, max: 20 });
    const loop = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(tail, loop, fc.boolean(), async (tailLength, loopLength, byHand) => {
        server.script((response, request) => {
          const page = Number(cursorOf(request) ?? 0);
          const next = page + 1 < tailLength + loopLength ? page + 1 : tailLength;
          json(200, { items: [{ id: `s${page}` }], nextCursor: `${next}` })(response, request);
        });
        const list = testClient(server.origin).client.sessions.list();
        const walk = async () => {
          for (let page = await list; page; page = (await page.getNextPage()) as never);
        };
        const error = await rejection(byHand ? walk() : list.toArray());
        expect(error.message).toMatch(/nextCursor that it returned before/);
        if (!byHand) expect(server.requests.length).toBeLessThanOrEqual(tailLength + loopLength + 1);
      }),
      { numRuns: 60 },
    );
  });

  it('yield the same items for any split into pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (sizes, prefetch) => {
          server.script(pagesOf(sizes));
          const list = testClient(server.origin).client.sessions.list({}, { prefetch });
          const total = sizes.reduce((sum, size) => sum + size, 0);
          expect((await list.toArray()).map(({ id }) => id)).toEqual(ids(total));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('iterator helpers', () => {
  it('support map, filter, take and toArray', async () => {
    const { client } = testClient(server.origin);
    server.script(pagesOf([3, 3, 3]));
    const list = client.sessions.list();
    const odd = list
      .filter(({ id }) => Number(id.slice(1)) % 2 === 1)
      .map(({ id }, index) => `${index}:${id}`);
    expect(await odd.take(2).toArray()).toEqual(['0:s1', '1:s3']);
    expect(cursors()).toEqual([null, '1']);
    expect(await list.toArray({ limit: 3 })).toHaveLength(3);
    expect(await list.take(0).toArray()).toEqual([]);
    expect(await rejection(list.toArray({ limit: -1 }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'limit must be an integer of at least 0, got -1.',
    });
  });

  it('resolve concurrent calls in order', async () => {
    server.script(pagesOf([2, 2]));
    const iterator = testClient(server.origin).client.sessions.list()[Symbol.asyncIterator]();
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => iterator.next()));
    expect(results.map(({ value }) => value?.id)).toEqual(['s0', 's1', 's2', 's3', undefined]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});
