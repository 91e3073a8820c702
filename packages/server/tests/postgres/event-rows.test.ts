import { afterEach, expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../../src/background/background-tasks.ts';
import { openStorage } from '../../src/open-storage.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';

const dayMs = 24 * 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

async function opened() {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret });
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  return { database, server, storage };
}

test.each([
  ['an ordinary call', {}, { payload_json: null, tool_name: 'search' }],
  ['a name in which JSON escapes a character', { toolName: 'say "\u2028" \\' }, { tool_name: null }],
  ['a name with other letters', { toolName: 'größe' }, { tool_name: null }],
  ['a hash of another length', { argumentsHash: 'sha256:aa' }, { tool_name: null }],
])('stores %s, and returns it unchanged', async (_, changes, stored) => {
  const { database, server } = await opened();
  const call = { toolName: 'search', argumentsHash: `sha256:${'0f'.repeat(32)}`, responseStatus: 404 };
  const payload = { ...call, ...changes };
  const [eventId] = await server.record({ category: 'tool_api', payload });
  expect(await asSuperuser('select * from event_rows', database)).toMatchObject([stored]);
  const text = await (await server.send('sessions.get', { id: 'thread-1' })).text();
  expect(text).toContain(JSON.stringify(payload));
  expect(text).toContain(eventId);
});

test.each([
  ['2026-11-28T10:00:00.123Z', null],
  ['1970-01-01T00:00:00.000Z', null],
  ['2199-12-31T23:59:59.999Z', null],
  ['2200-01-01T00:00:00.000Z', '2200-01-01T00:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['2026-11-28T10:00:00Z', '2026-11-28T10:00:00Z'],
  ['2026-11-28T10:00:00.1234567Z', '2026-11-28T10:00:00.1234567Z'],
])('returns the time %s as it was sent', async (sourceTimestamp, stored) => {
  const { database, server } = await opened();
  await server.record({ sourceTimestamp });
  expect(await asSuperuser('select source_timestamp from event_rows', database)).toEqual([
    { source_timestamp: stored },
  ]);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.map((event) => event.sourceTimestamp)).toEqual([sourceTimestamp]);
});

test('keeps event ids unique across months', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { server } = await opened();
  const [eventId] = await server.record({});
  vi.setSystemTime(Date.now() + 32 * dayMs);
  const [again] = await server.record({ eventId: eventId as string });
  expect(again).toBe(eventId);
  expect((await server.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(1);
});

test('drops sessions past retention with their events', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { database, server, storage } = await opened();
  const begunMs = Date.now();
  await server.record({}, { sessionId: 'other' });
  await server.server.admin.tenants.setRetention('default', { sessions: 30 });
  const laterMs = begunMs + 70 * dayMs;
  vi.setSystemTime(laterMs);
  await deleteExpiredData(storage, laterMs);
  const [left] = await asSuperuser<{ left: number }>(
    'select ((select count(*) from events) + (select count(*) from sessions))::int as left',
    database,
  );
  expect(left).toEqual({ left: 0 });
});

/** Adds events to a session as if they had arrived one after the other. */
async function lengthen(database: string, sessionId: string, events: number): Promise<void> {
  await asSuperuser(
    `insert into event_rows (tenant_id, session_id, source_ms, event_id, arrival, agent_id, source_timestamp, category,
        schema_version, payload_json, received_ms, stamp, identity, place, agent_key)
      select tenant_id, session_id, source_ms, gen_random_uuid(), added, agent_id, source_timestamp,
        category, schema_version, payload, received_ms, stamp, identity, place, agent_key
      from events, generate_series(2, ${events}) as added where session_id = '${sessionId}';
    update sessions set event_count = ${events}, last_arrival = ${events}, risk_arrival = ${events}
      where id = '${sessionId}'`,
    database,
  );
}

test('drops a session of any length in statements within the timeout', { timeout: 240_000 }, async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { database, server, storage } = await opened();
  await server.record({ sessionId: 'long' });
  await lengthen(database, 'long', 40_001);
  await asSuperuser(
    `create function refuse_many() returns trigger language plpgsql as $$ begin
      if (select count(*) from dropped) > 20000 then raise 'statement timeout' using errcode = 'query_canceled'; end if;
      return null;
    end $$;
    create trigger few after delete on event_rows referencing old table as dropped
      for each statement execute function refuse_many()`,
    database,
  );
  await server.server.admin.tenants.setRetention('default', { sessions: 30 });
  await deleteExpiredData(storage, Date.now() + 31 * dayMs);
  const [left] = await asSuperuser<{ left: number }>(
    'select ((select count(*) from events) + (select count(*) from sessions))::int as left',
    database,
  );
  expect(left).toEqual({ left: 0 });
});

test('has autovacuum free the space of deleted events once a twentieth is deleted', async () => {
  const { database } = await opened();
  const tables = await asSuperuser(
    "select relname, reloptions from pg_class where relname in ('event_rows', 'log_ranges') order by relname",
    database,
  );
  const reloptions = ['autovacuum_vacuum_scale_factor=0.05'];
  expect(tables).toEqual([
    { relname: 'event_rows', reloptions },
    { relname: 'log_ranges', reloptions },
  ]);
});
