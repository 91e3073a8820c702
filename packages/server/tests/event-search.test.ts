import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import type { ServerOptions } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import { logHead } from '../src/storage/log/tenant-log.ts';
import {
  type EventSearch,
  type EventSearchFilters,
  passingQuery,
  searchEvents,
  shortestRun,
} from '../src/storage/stores/event-search.ts';
import {
  allIds,
  eventsOf,
  filters,
  page,
  passing,
  type Query,
  request,
  type Sent,
  startMs,
} from './searched-events.ts';
import { onPostgres, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { readError, type TestServer, testServer } from './test-server.ts';

/** Starts a server whose database the test can read. */
async function searchedServer(settings: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-search-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ ...settings, database: join(folder, 'actlog.db') });
  const server = await testServer(options);
  const storage = await openStorage({ ...options, database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  return { server, storage, options };
}

/** Finds events by every pair of filters, and returns their number. */
async function findByPairs(server: TestServer, events: readonly Sent[]): Promise<number> {
  const timeOf = new Map(events.map(({ eventId, sourceTimestamp }) => [eventId, sourceTimestamp]));
  let found = 0;
  for (const [index, one] of filters.entries()) {
    for (const other of filters.slice(index)) {
      const query = { ...one, ...other };
      const ids = await allIds(server, { ...query, limit: index % 2 === 0 ? 200 : 7 });
      expect([...ids].sort(), JSON.stringify(query)).toEqual(passing(events, query));
      const times = ids.map((id) => timeOf.get(id) as string);
      expect(times, JSON.stringify(query)).toEqual(times.toSorted().reverse());
      found += ids.length;
    }
  }
  return found;
}

/** Nothing listens at this address. */
const unreachable = { history: 'http://actlog:secret@127.0.0.1:1/actlog', historyBlockSeconds: 0 };

test.each([
  ['by indexes', {}],
  ['without entries in indexes, during an outage of the history', unreachable],
])('finds the events of all sessions by every pair of filters, newest first, %s', async (_, settings) => {
  const events = eventsOf(120);
  const server = await testServer(settings);
  await server.recordMany(events);
  expect(await findByPairs(server, events)).toBeGreaterThan(500);
  for (const category of ['llm_call', 'plan']) {
    const query = { category, agentId: 'agent-0' };
    expect((await allIds(server, { ...query, limit: 2 })).sort()).toEqual(passing(events, query));
  }
});

test('finds events that were recorded with a history after it was removed, until there can be none', async () => {
  const { server, storage, options } = await searchedServer(unreachable);
  const events = eventsOf(60);
  await server.recordMany(events);
  await server.server.close();
  const { history: _, ...without } = options;
  const other = await testServer(without);
  const query = { agentId: 'agent-1' };
  const ids = async () => (await allIds(other, query)).sort();
  expect(await findByPairs(other, events)).toBeGreaterThan(200);
  // Retention deletes the sessions from before the removal at some time.
  const removedMs = startMs - 2 * 24 * 3_600_000;
  const ofRemoval = sql`update deployment set value = ${String(removedMs)} where name = 'history_used'`;
  await storage.writeAcross('administer', ({ db }) => ofRemoval.execute(db));
  expect(await ids()).toEqual([]);
});

test('finds what is in the log after an entry, or not in it yet', async () => {
  const events = eventsOf(90);
  const logged = await searchedServer(unreachable);
  const size = () =>
    vi.waitFor(async () => {
      const { head, waiting } = await logged.storage.read(1, async (db) => ({
        head: await logHead(db, 1),
        waiting: await db
          .selectFrom('sessions')
          .whereRef('log_arrival', '<', 'last_arrival')
          .select('id')
          .execute(),
      }));
      expect(waiting).toEqual([]);
      return head.size;
    });
  await logged.server.recordMany(events.slice(0, 40));
  const before = await size();
  await logged.server.recordMany(events.slice(40));
  await size();
  const unlogged = await searchedServer({ keepLog: false });
  await unlogged.server.recordMany(events);
  const searched = async ({ storage }: typeof logged, query: Query, afterEntry: number) => {
    const ids: string[] = [];
    let after: EventSearch['after'];
    do {
      const search = { ...query, after, tenantId: 1, limit: 7, among: { afterEntry } };
      const found = await storage.read(1, (db) => searchEvents(db, search));
      ids.push(...found.rows.map(({ event_id: id }) => id));
      after = found.end;
    } while (after);
    return ids.sort();
  };
  const queries = [
    { agentId: 'agent-1' },
    { toolName: 'tool-3' },
    { argumentsHash: 'sha256:5' },
    { argumentsHash: 'sha256:5', sessionId: 's-2' },
    { agentId: 'agent-1', category: 'plan' },
    { agentId: 'agent-1', toolName: 'tool-4', status: 'error' },
    { toolName: 'tool-3', status: 'ok' },
  ];
  for (const query of queries) {
    const name = JSON.stringify(query);
    expect(await searched(logged, query, before - 1), name).toEqual(passing(events.slice(40), query));
    expect(await searched(logged, query, -1), name).toEqual(passing(events, query));
    expect(await searched(unlogged, query, -1), name).toEqual(passing(events, query));
  }
});

test('refuses unknown fields, filters that no event passes, and cursors of other filters', async () => {
  const server = await testServer();
  await server.recordMany(eventsOf(5));
  for (const [query, path] of [
    [{ tool: 'a' }, 'query.tool'],
    [{ status: 'failed' }, 'query.status'],
    [{ limit: 201 }, 'query.limit'],
    [{ category: 'plan', status: 'error' }, 'query.category'],
    [{ since: '2026-11-02T00:00:00Z', until: '2026-11-01T00:00:00Z' }, 'query.since'],
  ] as const) {
    const { details } = await readError(await request(server, query));
    expect(details.map((detail) => detail.path)).toContain(path);
  }
  const { nextCursor } = await page(server, { limit: 2 });
  const { details } = await readError(
    await request(server, { limit: 2, status: 'error', cursor: nextCursor as string }),
  );
  expect(details[0]).toMatchObject({ path: 'query.cursor', code: 'invalid_cursor' });
});

test('shows a tenant no event of another, and forgets deleted sessions', async () => {
  const { server, storage } = await searchedServer();
  const events = eventsOf(12);
  await server.recordMany(events);
  const other: EventSearch = { tenantId: 2, limit: 10, agentId: 'agent-1' };
  expect((await storage.read(2, (db) => searchEvents(db, other))).rows).toEqual([]);
  const { dropSessions } = await import('../src/storage/retention/drop-rows.ts');
  await storage.write(1, ({ db }) => dropSessions(db, 1, ['s-2'], Date.now(), { reason: undefined }));
  const left = events.filter(({ sessionId }) => sessionId !== 's-2').map(({ eventId }) => eventId);
  expect((await allIds(server, {})).sort()).toEqual(left.sort());
  expect(await allIds(server, { sessionId: 's-2' })).toEqual([]);
});

test('tells names apart that share a key', async () => {
  const server = await testServer();
  // Their 32 bits of FNV-1a are equal.
  const [name, other] = ['costarring', 'liquid'] as const;
  const call = (text: string) => ({
    agentId: text,
    payload: { toolName: text, argumentsHash: text, responseStatus: 500 },
  });
  const [eventId] = await server.record(call(name), call(other));
  for (const field of ['agentId', 'toolName', 'argumentsHash']) {
    expect(await allIds(server, { [field]: name }), field).toEqual([eventId]);
    expect(await allIds(server, { [field]: name, status: 'error', limit: 1 }), field).toEqual([eventId]);
  }
});

test('ends a page after a bounded number of events, says how far it looked, and continues', async () => {
  const { server, storage } = await searchedServer();
  await server.recordMany(eventsOf(90));
  // Calls of the tool are all by other agents.
  const search: EventSearch = {
    tenantId: 1,
    agentId: 'agent-1',
    toolName: 'tool-3',
    limit: 5,
    maxWalked: 10,
  };
  let pages = 0;
  let after: EventSearch['after'];
  let lastMs = Number.POSITIVE_INFINITY;
  do {
    const found = await storage.read(1, (db) => searchEvents(db, { ...search, after }));
    expect(found.rows).toEqual([]);
    if (found.end) expect(found.searchedToMs).toBeLessThan(lastMs);
    lastMs = found.searchedToMs ?? lastMs;
    after = found.end;
    pages += 1;
  } while (after);
  expect(pages).toBe(2);
});

test('finds events of the first and the last year that a time can have', async () => {
  const { server } = await searchedServer();
  const times = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  for (const sourceTimestamp of times) await server.record({ sessionId: 'odd', sourceTimestamp });
  const { events } = await server.ok('sessions.get', { id: 'odd' });
  expect(events.map(({ sourceTimestamp }) => sourceTimestamp)).toEqual(times);
  const found = await fetch(`${server.server.url}/server/v1/events?sessionId=odd`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  }).then((response) => response.json() as Promise<{ items: { sourceTimestamp: string }[] }>);
  expect(found.items.map(({ sourceTimestamp }) => sourceTimestamp)).toEqual(times.toReversed());
});

const combinations: readonly EventSearchFilters[] = [
  {},
  { agentId: 'agent-1' },
  { toolName: 'tool-1' },
  { sessionId: 's-1' },
  { argumentsHash: 'sha256:1' },
  { category: 'plan' },
  { status: 'ok' },
  { status: 'error' },
  { status: 'denied' },
  { agentId: 'agent-1', status: 'error' },
  { toolName: 'tool-1', status: 'denied' },
  { agentId: 'agent-1', toolName: 'tool-1' },
  { agentId: 'agent-1', category: 'plan' },
  { agentId: 'agent-1', toolName: 'tool-1', status: 'error', sinceMs: startMs, untilMs: startMs + 9000 },
  { sessionId: 's-1', toolName: 'tool-1', argumentsHash: 'sha256:1' },
];

/** Copies each event a hundred times, a second apart. */
const manyMore = `with recursive counter(n) as (select 1 union all select n + 1 from counter where n < 100)
  insert into events (tenant_id, session_id, source_ms, event_id, arrival, agent_id, source_timestamp, category,
    schema_version, payload, received_ms, stamp, mark, place, agent_key, tool_key, hash_key)
  select tenant_id, session_id, source_ms + n * 1000, event_id || n, arrival + n * 1000, agent_id, source_timestamp,
    category, schema_version, payload, received_ms, stamp, mark, place + n * 32000, agent_key, tool_key, hash_key
  from events, counter`;

const manyMoreRows = `insert into event_rows (tenant_id, session_id, source_ms, event_id, arrival, agent_id, category,
    schema_version, tool_name, arguments_hash, response_status, payload_json, received_ms, stamp, mark, place, agent_key,
    tool_key, hash_key)
  select tenant_id, session_id, source_ms + n * 1000, gen_random_uuid(), arrival + n * 1000, agent_id, category,
    schema_version, tool_name, arguments_hash, response_status, payload_json, received_ms, stamp, mark, place + n * 32000,
    agent_key, tool_key, hash_key
  from event_rows, generate_series(1, 100) as n`;

test('walks an index for every combination of filters, without a scan or a sort of the whole', async () => {
  const { server, storage, options } = await searchedServer();
  await server.recordMany(eventsOf(120));
  // With statistics of many events, there are more plans to choose from.
  await storage.write(1, async ({ db }) => {
    await db.executeQuery(CompiledQuery.raw(onPostgres ? manyMoreRows : manyMore));
    await db.executeQuery(CompiledQuery.raw(onPostgres ? 'analyze event_rows' : 'analyze'));
  });
  const reader = await openStorage({ ...options, database: options.database as string, connections: 1 });
  atTestEnd(() => reader.close());
  const planOf = (search: EventSearch) =>
    reader.read(1, async (db) => {
      const query = passingQuery(db, search, await shortestRun(db, search), 51);
      const { sql: text, parameters } = query.compile(db);
      // Few rows fit on a page, which PostgreSQL would rather read whole.
      if (onPostgres) {
        await db.executeQuery(CompiledQuery.raw('set local enable_seqscan = off'));
        await db.executeQuery(CompiledQuery.raw('set local enable_bitmapscan = off'));
      }
      const explain = onPostgres ? 'explain (costs off)' : 'explain query plan';
      const { rows } = await db.executeQuery(CompiledQuery.raw(`${explain} ${text}`, [...parameters]));
      return rows.map((row) => Object.values(row as object).at(-1) as string).join('\n');
    });
  for (const filter of combinations) {
    const search: EventSearch = {
      ...filter,
      tenantId: 1,
      limit: 50,
      after: { place: (startMs + 5000) * 32, eventId: 'ffffffff-ffff-4fff-bfff-ffffffffffff' },
    };
    const plan = await planOf(search);
    const used = onPostgres
      ? /Index Scan Backward using/
      : /SEARCH events USING INDEX events_by_\w+ \(tenant_id=\?/;
    expect(plan, JSON.stringify(filter)).toMatch(used);
    expect(plan, JSON.stringify(filter)).not.toMatch(
      /ANY\(|mark>|SCAN events|Seq Scan|TEMP B-TREE FOR ORDER BY|^\s+->\s+Sort/m,
    );
  }
  const unsent = await planOf({ tenantId: 1, agentId: 'agent-1', limit: 50, among: { afterEntry: 0 } });
  expect(unsent).toMatch(
    onPostgres ? /Index Scan using events_by_arrival/ : /events USING INDEX events_by_session/,
  );
});
