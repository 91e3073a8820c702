import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActivityEvent, EventPage, Forwarding, RiskySession } from '@actlog/protocol';
import { expect, test, vi } from 'vitest';
import { deleteExpiredData, dropExpiredSessions } from '../../src/background/background-tasks.ts';
import { historySetting } from '../../src/history/click-house.ts';
import { History } from '../../src/history/history.ts';
import type { ServerOptions } from '../../src/index.ts';
import { openStorage } from '../../src/open-storage.ts';
import { storedEvents } from '../../src/storage/event-reader.ts';
import { dropSessions } from '../../src/storage/retention/drop-rows.ts';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { ChildServer } from '../child-server.ts';
import { get } from '../evidence/logged-records.ts';
import { allIds, eventsOf, passing } from '../searched-events.ts';
import { withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { readError, TestServer, testServer } from '../test-server.ts';
import { ClickHouse } from './clickhouse.ts';

const dayMs = 24 * 3_600_000;
/** Begin of a month that ends today. */
const startMs = Math.floor(Date.now() / dayMs - 29) * dayMs;

/** Starts a server with a history, and opens its database and its history for the test. */
async function serverWithHistory(clickHouse: ClickHouse, settings: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-history-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({
    database: join(folder, 'actlog.db'),
    secret: 'the one secret of all servers in these tests',
    history: clickHouse.address,
    historyBlockSeconds: 0,
    retention: { sessions: 1 },
    ...settings,
  });
  const server = await testServer(options);
  const storage = await openStorage({ database: options.database as string, connections: 2 });
  atTestEnd(() => storage.close());
  const historyOf = (days: number | null) => {
    const history = new History({
      address: historySetting.parse(clickHouse.address),
      storage,
      stored: storedEvents(storage),
      days,
    });
    atTestEnd(() => history.close());
    return history;
  };
  return { server, storage, history: historyOf(null), historyOf, options };
}

async function forwarding(server: TestServer) {
  const { items } = (await (await get(server, '/server/v1/forwarding')).json()) as Forwarding;
  return items.find(({ name }) => name === 'history');
}

/** Waits until the history has everything that is in the log, which has at least as many events. */
async function upToDate(server: TestServer, clickHouse: ClickHouse, events: number): Promise<void> {
  await vi.waitFor(
    async () => {
      expect((await kept(clickHouse)).events).toBeGreaterThanOrEqual(events);
      expect(await forwarding(server)).toMatchObject({ lagRecords: 0, failures: 0 });
    },
    { timeout: 40_000, interval: 100 },
  );
}

async function kept(clickHouse: ClickHouse) {
  const [counts] = await clickHouse.rows<{ rows: number; events: number }>(
    'select count() as rows, uniqExact(event_id) as events from actlog_events',
  );
  return counts as { rows: number; events: number };
}

type Query = Readonly<Record<string, string | number>>;

async function search(server: TestServer, query: Query): Promise<EventPage> {
  const response = await get(server, `/server/v1/events?${new URLSearchParams(query as never)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as EventPage;
}

/** Returns all events that a search finds, page by page. */
async function found(server: TestServer, query: Query) {
  const events: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: EventPage = await search(server, { ...query, limit: 40, ...(cursor && { cursor }) });
    expect(page.isHistoryMissing).toBeUndefined();
    events.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return events;
}

/** Returns a session with all its events, page by page. */
async function wholeSession(server: TestServer, id: string) {
  const events: unknown[] = [];
  let cursor: string | null = null;
  do {
    const query = { limit: 7, ...(cursor && { cursor }) };
    const page: { events: unknown[]; nextCursor: string | null } = await server.ok('sessions.get', {
      id,
      query,
    });
    const { events: some, nextCursor, ...session } = page;
    events.push(session, ...some);
    cursor = nextCursor;
  } while (cursor !== null);
  return events;
}

/** Returns events of a month; three share each time. */
function monthOfEvents(count: number): Partial<ActivityEvent>[] {
  return Array.from({ length: count }, (_, index) => ({
    eventId: `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    sessionId: `s-${index % 10}`,
    agentId: `agent-${index % 3}`,
    sourceTimestamp: new Date(startMs + Math.floor((index / count) * 30) * dayMs + (index % 5)).toISOString(),
    ...(index % 7 === 3
      ? { category: 'plan', payload: { text: 'é "quoted" \\ \n', amount: 1e21 } }
      : {
          category: 'tool_api',
          payload: {
            toolName: `tool-${index % 6}`,
            argumentsHash: `sha256:${index % 8}`,
            responseStatus: [200, 200, 500, 200, 403][index % 5],
          },
        }),
  }));
}

/** Returns a list of sessions, page by page. */
async function listed(server: TestServer, query: Query) {
  const sessions: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: unknown[]; nextCursor: string | null } = await server.ok('sessions.list', {
      query: { ...query, limit: 3, ...(cursor && { cursor }) },
    });
    sessions.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return sessions;
}

const lists: readonly Query[] = [
  {},
  { sort: 'riskScore' },
  { agentId: 'agent-1' },
  { agentIdContains: 'GENT-2' },
  { idContains: 'S-1' },
  { toolName: 'tool-3' },
  { status: 'errors' },
  { status: 'denied' },
  { level: 'low' },
  { minRiskScore: 1 },
  { startedAfter: new Date(startMs + 2 * dayMs).toISOString() },
  { startedBefore: new Date(startMs + 5 * dayMs).toISOString() },
];

/** Returns an export, without the times of the response. */
async function exported(server: TestServer, id: string) {
  const { exportedAt: _, risk, ...document } = await server.ok('sessions.export', { id });
  const { computedAt: __, ...score } = risk;
  return { ...document, risk: score };
}

/** Returns counts, without what is about the present. */
async function countsOf(server: TestServer, path: string) {
  const response = await get(server, path);
  expect(response.status).toBe(200);
  const { riskiestSessions, keys: _, ...counts } = (await response.json()) as Record<string, unknown>;
  const riskiest = (riskiestSessions as RiskySession[] | undefined)?.map(
    ({ sentence: _, ...session }) => session,
  );
  return { ...counts, riskiest };
}

const filters: readonly Query[] = [
  {},
  { agentId: 'agent-1' },
  { sessionId: 's-2' },
  { toolName: 'tool-3' },
  { status: 'ok' },
  { status: 'denied' },
  { category: 'plan' },
  { argumentsHash: 'sha256:5', sessionId: 's-1' },
  {
    since: new Date(startMs + 10 * dayMs).toISOString(),
    until: new Date(startMs + 20 * dayMs).toISOString(),
  },
  { sessionId: 's-1', since: new Date(startMs + 5 * dayMs).toISOString() },
];

const retention = { reason: { by: 'retention', days: 1, before: '2026-11-01T00:00:00.000Z' } } as const;

test('finds the same events of a month, and the same sessions, after retention deleted some or all', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history } = await serverWithHistory(clickHouse);
  await server.recordMany(monthOfEvents(150));
  await upToDate(server, clickHouse, 150);
  const ids = Array.from({ length: 10 }, (_, at) => `s-${at}`);
  const since = new Date(startMs).toISOString();
  const until = new Date(startMs + 31 * dayMs).toISOString();
  const counts = [
    `/server/v1/overview?interval=day&since=${since}&until=${until}&handled=true`,
    `/server/v1/activity?kind=tool&since=${since}&until=${until}`,
    `/server/v1/activity?kind=agent&since=${since}&until=${until}`,
    '/server/v1/agents/agent-1/activity',
    '/server/v1/tools/tool-3/activity',
  ];
  const everything = async () => ({
    searches: await Promise.all(filters.map((query) => found(server, query))),
    sessions: await Promise.all(ids.map((id) => wholeSession(server, id))),
    exports: await Promise.all(ids.map((id) => exported(server, id))),
    risks: await Promise.all(
      ids.map(async (id) => ({ ...(await server.ok('sessions.risk', { id })), computedAt: undefined })),
    ),
    ends: await history.events.callEnds(
      1,
      monthOfEvents(150).map(({ eventId }) => eventId as string),
    ),
    lists: await Promise.all(lists.map((query) => listed(server, query))),
    counts: await Promise.all(counts.map((path) => countsOf(server, path))),
  });
  const before = await everything();
  expect(before.searches.map((events) => events.length)).toContain(150);
  expect(before.counts[0]?.riskiest).not.toEqual([]);
  for (const events of before.searches) expect(events.length).toBeGreaterThan(0);
  await history.keepSessions(1, Date.now() + dayMs);
  const some = ['s-0', 's-2', 's-3', 's-7'];
  await storage.write(1, ({ db }) => dropSessions(db, 1, some, Date.now(), retention));
  expect(await everything()).toEqual(before);
  const laterMs = Date.now() + 2 * dayMs;
  expect(await dropExpiredSessions(storage, laterMs, undefined, history)).toBe(6);
  await deleteExpiredData(storage, laterMs, undefined, history);
  expect(await everything()).toEqual(before);
  expect(await kept(clickHouse)).toEqual({ rows: 150, events: 150 });
}, 200_000);

/** Searches whose events have entries in indexes only without a history, and others. */
const searches: readonly Query[] = [
  {},
  { status: 'denied' },
  { agentId: 'agent-1' },
  { toolName: 'tool-3' },
  { argumentsHash: 'sha256:5' },
  { agentId: 'agent-1', toolName: 'tool-4' },
  { agentId: 'agent-1', status: 'denied' },
  { agentId: 'agent-0', category: 'plan' },
  { toolName: 'tool-3', status: 'ok' },
  { argumentsHash: 'sha256:5', sessionId: 's-1' },
];

test('finds what was recorded before the history, what it has and what it does not have yet, by every filter', async () => {
  const clickHouse = await ClickHouse.start();
  const { server: first, storage, options } = await serverWithHistory(clickHouse, { history: undefined });
  const events = eventsOf(120);
  const inTurns = (turn: number) => events.filter((_, index) => index % 3 === turn);
  await first.recordMany(inTurns(0));
  await first.server.close();
  const server = await testServer({ ...options, history: clickHouse.address });
  await upToDate(server, clickHouse, 40);
  await server.recordMany(inTurns(1));
  await upToDate(server, clickHouse, 80);
  clickHouse.fateOf = ({ sql }) => (sql.startsWith('INSERT') ? 'not reached' : 'runs');
  await server.recordMany(inTurns(2));
  const findAll = async () => {
    let missing = 0;
    for (const query of searches) {
      const ids = await allIds(server, { ...query, limit: 11 }, ({ isHistoryMissing }) => {
        if (isHistoryMissing) missing += 1;
      });
      expect(ids.toSorted(), JSON.stringify(query)).toEqual(passing(events, query));
    }
    return missing;
  };
  expect(await findAll()).toBe(0);
  expect((await kept(clickHouse)).events).toBe(80);
  const { recent } = (await (await get(server, '/server/v1/agents/agent-1/activity')).json()) as {
    recent: { calls: number };
  };
  expect(recent.calls).toBe(passing(events, { agentId: 'agent-1', category: 'tool_api' }).length);
  // Far more than one search reads.
  await storage.write(1, ({ db }) =>
    db
      .updateTable('log_heads')
      .set(({ eb }) => ({ size: eb('size', '+', 50_000) }))
      .execute(),
  );
  expect(await findAll()).toBe(0);
  await clickHouse.disconnect();
  expect(await findAll()).toBeGreaterThan(searches.length);
}, 200_000);

test('lists a session once that went on after retention deleted it', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history } = await serverWithHistory(clickHouse);
  for (const [round, agentId] of ['first', 'second', 'third'].entries()) {
    const sourceTimestamp = new Date(startMs + round * dayMs).toISOString();
    await server.record({ sessionId: 'again', agentId, sourceTimestamp });
    await upToDate(server, clickHouse, round + 1);
    expect(await listed(server, {})).toMatchObject([{ id: 'again', agentId }]);
    expect(await dropExpiredSessions(storage, Date.now() + 2 * dayMs, undefined, history)).toBe(1);
    // Each round is past the sessions that were kept before it.
    expect(await listed(server, {})).toMatchObject([{ id: 'again', agentId }]);
  }
  expect(await listed(server, { agentId: 'first' })).toEqual([]);
  expect(await found(server, { sessionId: 'again' })).toHaveLength(3);
}, 60_000);

test('loses nothing in an outage, during which retention deletes no event that the history does not have', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history } = await serverWithHistory(clickHouse);
  await server.record({ sessionId: 'before' });
  await upToDate(server, clickHouse, 1);
  const laterMs = Date.now() + 2 * dayMs;
  expect(await dropExpiredSessions(storage, laterMs, undefined, history)).toBe(1);
  await clickHouse.disconnect();
  await server.recordMany(Array.from({ length: 40 }, (_, at) => ({ sessionId: `s${at % 4}` })));
  await vi.waitFor(async () => expect((await forwarding(server))?.failures).toBeGreaterThan(0), {
    timeout: 20_000,
  });
  expect((await forwarding(server))?.lastError).toMatch(/^127\.0\.0\.1:\d+ cannot be reached: ECONNREFUSED$/);
  await expect(dropExpiredSessions(storage, laterMs, undefined, history)).rejects.toThrow(
    'cannot be reached',
  );
  expect(await search(server, {})).toMatchObject({ isHistoryMissing: true, items: { length: 40 } });
  const { status, code, headers } = await readError(await server.send('sessions.get', { id: 'before' }));
  expect([status, code, headers.get('retry-after')]).toEqual([503, 'OVERLOADED', '10']);
  await clickHouse.kill();
  await clickHouse.run();
  await clickHouse.connect();
  await upToDate(server, clickHouse, 41);
  expect(await dropExpiredSessions(storage, laterMs, undefined, history)).toBe(4);
  expect(await found(server, {})).toHaveLength(41);
  expect(await kept(clickHouse)).toEqual({ rows: 41, events: 41 });
});

test('stores each event once when the server is killed between a block and its position', async () => {
  const clickHouse = await ClickHouse.start();
  const folder = mkdtempSync(join(tmpdir(), 'actlog-history-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const apiKey = newApiKey('test');
  const options = {
    database: join(folder, 'actlog.db'),
    secret: 'the one secret of all servers in these tests',
    apiKey,
    docs: false,
    history: clickHouse.address,
    historyBlockSeconds: 0,
  };
  // First a new block, which the next server repeats before its own.
  for (const [fate, killedAt] of [
    ['runs', 1],
    ['not reached', 2],
  ] as const) {
    const child = await ChildServer.start(options);
    const server = new TestServer({ url: child.url } as TestServer['server'], apiKey);
    const killed = new Promise<void>((resolve) => {
      let blocks = 0;
      clickHouse.fateOf = async ({ sql }) => {
        if (!sql.startsWith('INSERT')) return 'runs';
        blocks += 1;
        if (blocks < killedAt) return 'runs';
        await child.kill();
        resolve();
        return fate;
      };
    });
    await server
      .recordMany(Array.from({ length: 60 }, (_, at) => ({ sessionId: `s${at % 4}` })))
      .catch(() => {});
    await killed;
    clickHouse.fateOf = () => 'runs';
  }
  const child = await ChildServer.start(options);
  atTestEnd(() => child.kill());
  const server = new TestServer({ url: child.url } as TestServer['server'], apiKey);
  await server.record({});
  await upToDate(server, clickHouse, 1);
  const recorded = (await found(server, {})) as { eventId: string }[];
  const ids = await clickHouse.rows<{ event_id: string }>('select event_id from actlog_events');
  expect(ids.map(({ event_id: id }) => id).sort()).toEqual(recorded.map(({ eventId }) => eventId).sort());
  expect(clickHouse.queries.filter(({ sql }) => sql.startsWith('INSERT')).length).toBeGreaterThan(3);
}, 120_000);

test('erases a session in the history, also one that is only there, and never shows it meanwhile', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history } = await serverWithHistory(clickHouse);
  const { admin } = server.server;
  await server.recordMany(
    Array.from({ length: 30 }, (_, at) => ({ sessionId: ['hot', 'old', 'other'][at % 3] as string })),
  );
  await upToDate(server, clickHouse, 30);
  await storage.write(1, ({ db }) => dropSessions(db, 1, ['old', 'other'], Date.now(), retention));
  await upToDate(server, clickHouse, 30);
  // Deletions wait, as when ClickHouse is slow: every read must leave the events out.
  let isWaiting = true;
  clickHouse.fateOf = ({ sql }) => (isWaiting && sql.startsWith('delete') ? 'not reached' : 'runs');
  await admin.sessions.delete('default', 'hot');
  await admin.sessions.delete('default', 'old');
  await expect(admin.sessions.delete('default', 'old')).rejects.toThrow('has no session "old"');
  expect((await server.refused('sessions.get', { id: 'hot' })).status).toBe(404);
  expect((await server.refused('sessions.get', { id: 'old' })).status).toBe(404);
  expect(await found(server, {})).toHaveLength(10);
  expect(await kept(clickHouse)).toEqual({ rows: 30, events: 30 });
  isWaiting = false;
  await vi.waitFor(async () => expect(await kept(clickHouse)).toEqual({ rows: 10, events: 10 }), {
    timeout: 30_000,
    interval: 100,
  });
  await history.clean(Date.now());
  const [parts] = await clickHouse.rows(
    `select sum(rows) as rows from system.parts where table = 'actlog_events' and active`,
  );
  expect(parts).toEqual({ rows: 10 });
});

test('erases what a block that arrives late brings back', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, history } = await serverWithHistory(clickHouse);
  await server.recordMany(Array.from({ length: 10 }, (_, at) => ({ sessionId: at < 5 ? 'erased' : 'kept' })));
  await upToDate(server, clickHouse, 10);
  await clickHouse.command('create table late as actlog_events engine = MergeTree order by tenant_id');
  await clickHouse.command('insert into late select * from actlog_events');
  await server.server.admin.sessions.delete('default', 'erased');
  await vi.waitFor(async () => expect((await kept(clickHouse)).events).toBe(5), { timeout: 30_000 });
  await clickHouse.command('insert into actlog_events select * from late');
  expect((await kept(clickHouse)).events).toBe(10);
  await history.clean(Date.now());
  expect((await kept(clickHouse)).events).toBe(5);
  expect(await found(server, {})).toHaveLength(5);
});

test('refuses to erase a session of the history under a legal hold, or without the address of the history', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history, options } = await serverWithHistory(clickHouse);
  const { admin } = server.server;
  await server.record({ sessionId: 'old', agentId: 'billing-agent' });
  await upToDate(server, clickHouse, 1);
  await dropExpiredSessions(storage, Date.now() + 2 * dayMs, undefined, history);
  const hold = await admin.legalHolds.create('default', { name: 'case 7', agentId: 'billing-agent' });
  await expect(admin.sessions.delete('default', 'old')).rejects.toThrow('is under the legal hold "case 7"');
  await admin.legalHolds.release('default', hold.id);
  const { Administration } = await import('../../src/administration/administration.ts');
  const without = new Administration(storage, () => Promise.reject(new Error(String(options.database))));
  await expect(without.sessions.delete('default', 'old')).rejects.toThrow('set ACTLOG_HISTORY');
  await admin.sessions.delete('default', 'old');
  await vi.waitFor(async () => expect((await kept(clickHouse)).rows).toBe(0), { timeout: 30_000 });
});

test('deletes whole weeks past retention, without what a legal hold covers', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, history: forever, historyOf } = await serverWithHistory(clickHouse);
  const history = historyOf(35);
  await server.record({});
  await upToDate(server, clickHouse, 1);
  const nowMs = Date.now();
  const old = (week: number, sessionId: string, tenant = 1) =>
    clickHouse.command(`
      insert into actlog_events (tenant_id, place, event_id, session_id, agent_id, source_ms, received_ms, log_index)
      values (${tenant}, ${(nowMs - week * 7 * dayMs) * 32}, '${randomUUID()}', '${sessionId}', 'a', ${nowMs - week * 7 * dayMs}, ${nowMs - week * 7 * dayMs}, ${1000 + week})`);
  for (const week of [1, 4, 8, 12]) for (const id of ['held', 'free']) await old(week, id);
  await old(8, 'held', 2);
  const sessions = async () =>
    (
      await clickHouse.rows<{ session: string }>(
        `select concat(session_id, ' ', toString(dateDiff('week', fromUnixTimestamp64Milli(received_ms), now()))) as session
         from actlog_events where session_id in ('held', 'free') order by received_ms desc, session_id`,
      )
    ).map(({ session }) => session);
  const { admin } = server.server;
  const hold = await admin.legalHolds.create('default', { name: 'case 7', sessionId: 'held' });
  await history.clean(nowMs);
  expect((await sessions()).map((session) => session.split(' ')[0])).toEqual([
    'free',
    'held',
    'free',
    'held',
    'held',
    'held',
  ]);
  await admin.legalHolds.release('default', hold.id);
  await history.clean(nowMs);
  expect(await sessions()).toHaveLength(4);
  await forever.clean(nowMs + 365 * dayMs);
  expect(await sessions()).toHaveLength(4);
  expect(await found(server, { agentId: 'billing-agent' })).toHaveLength(1);
});

test('deletes the events of a deleted tenant, and repeats it until ClickHouse has confirmed it', async () => {
  const clickHouse = await ClickHouse.start();
  const { server, storage, history } = await serverWithHistory(clickHouse);
  const { admin } = server.server;
  await admin.tenants.create('acme');
  const { apiKey } = await admin.keys.create('acme', { name: 'acme', kind: 'live' });
  const acme = server.as(apiKey);
  await acme.record({}, {});
  await server.record({});
  await vi.waitFor(async () => expect((await kept(clickHouse)).events).toBe(3), { timeout: 30_000 });
  await admin.tenants.delete('acme', { erasure: 'request 7' });
  const laterMs = Date.now() + 2 * 3_600_000;
  await clickHouse.disconnect();
  await expect(deleteExpiredData(storage, laterMs, undefined, history)).rejects.toThrow(
    'steps of the cleanup',
  );
  await clickHouse.connect();
  await deleteExpiredData(storage, laterMs, undefined, history);
  expect((await kept(clickHouse)).events).toBe(1);
});
