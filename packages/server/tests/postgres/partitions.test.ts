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

/** Returns the partitions that contain events. */
async function places(database: string): Promise<string[]> {
  const rows = await asSuperuser<{ place: string }>(
    'select distinct tableoid::regclass::text as place from events order by 1',
    database,
  );
  return rows.map(({ place }) => place);
}

async function partitions(database: string): Promise<string[]> {
  const rows = await asSuperuser<{ name: string }>(
    `select relname as name from pg_class join pg_inherits on inhrelid = oid where inhparent = 'events'::regclass order by 1`,
    database,
  );
  return rows.map(({ name }) => name);
}

function monthOf(timeMs: number): string {
  return `events_${new Date(timeMs).toISOString().slice(0, 7).replace('-', '_')}`;
}

test('stores an event without a partition, and moves it when its month is created', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { database, server, storage } = await opened();
  const farMs = Date.UTC(2031, 4, 15);
  vi.setSystemTime(farMs);
  const [eventId] = await server.record({});
  expect(await places(database)).toEqual(['events_default']);
  await Promise.all([storage.maintain(farMs), storage.maintain(farMs)]);
  expect(await places(database)).toEqual([monthOf(farMs)]);
  expect(await partitions(database)).toEqual(expect.arrayContaining(['events_2031_06', 'events_2031_08']));
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.map((event) => event.eventId)).toEqual([eventId]);
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

test('drops sessions past retention with events and ids, then the empty months', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { database, server, storage } = await opened();
  const begunMs = Date.now();
  await server.record({}, { sessionId: 'other' });
  await server.server.admin.tenants.setRetention('default', { sessions: 30 });
  expect(await partitions(database)).toContain(monthOf(begunMs));
  const laterMs = begunMs + 70 * dayMs;
  vi.setSystemTime(laterMs);
  await deleteExpiredData(storage, laterMs);
  const [left] = await asSuperuser<{ left: number }>(
    'select ((select count(*) from events) + (select count(*) from event_ids) + (select count(*) from sessions))::int as left',
    database,
  );
  expect(left).toEqual({ left: 0 });
  await deleteExpiredData(storage, laterMs);
  expect(await partitions(database)).not.toContain(monthOf(begunMs));
  expect(await partitions(database)).toContain(monthOf(laterMs));
});

/** Adds events to a session as if they had arrived one after the other. */
async function lengthen(database: string, sessionId: string, events: number): Promise<void> {
  await asSuperuser(
    `with more as (
      insert into events (tenant_id, session_id, source_ms, event_id, arrival, agent_id, source_timestamp, category,
          schema_version, payload, received_ms, stamp, identity, place, agent_key)
        select tenant_id, session_id, source_ms, gen_random_uuid()::text, added, agent_id, source_timestamp,
          category, schema_version, payload, received_ms, stamp, identity, place, agent_key
        from events, generate_series(2, ${events}) as added where session_id = '${sessionId}'
      returning *
    )
    insert into event_ids select tenant_id, event_id, session_id, arrival, received_ms from more;
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
    create trigger few after delete on events referencing old table as dropped
      for each statement execute function refuse_many()`,
    database,
  );
  await server.server.admin.tenants.setRetention('default', { sessions: 30 });
  await deleteExpiredData(storage, Date.now() + 31 * dayMs);
  const [left] = await asSuperuser<{ left: number }>(
    'select ((select count(*) from events) + (select count(*) from event_ids) + (select count(*) from sessions))::int as left',
    database,
  );
  expect(left).toEqual({ left: 0 });
});
