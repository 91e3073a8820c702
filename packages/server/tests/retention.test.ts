import { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { deleteExpiredData, dropExpiredSessions } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import { logHead } from '../src/storage/log/tenant-log.ts';
import { dropRestOfSessions, dropSessions, maxEventsAtOnce } from '../src/storage/retention/drop-rows.ts';
import { DeletionPace, expiredSessions, pruneSome, sessionStep } from '../src/storage/retention/prune.ts';
import { assignSessionTo, findSession } from '../src/storage/sessions/session-store.ts';
import { SqliteConnection } from '../src/storage/sqlite/sqlite-connection.ts';
import { eventPage, findEvents } from '../src/storage/stores/event-log.ts';
import { searchEvents } from '../src/storage/stores/event-search.ts';
import type { Database } from '../src/storage/transaction.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { afterNextRead } from './storage-seam.ts';
import { onPostgres, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, testServer } from './test-server.ts';

const dayMs = 24 * 3_600_000;

/** Returns a storage with a tenant that keeps sessions for a day, and a function that records an event. */
async function withRetention() {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', async ({ db }) => {
    const id = await ensureTenant(db, 'one');
    await db
      .updateTable('tenants')
      .set({ retention: JSON.stringify({ sessions: 1 }) })
      .where('id', '=', id)
      .execute();
    return id;
  });
  const record = async (receivedMs: number, sessionId = 'thread-1'): Promise<string> => {
    const event = activityEvent({ sessionId });
    const arrived = { event, sourceMs: receivedMs, receivedMs, protoKeysRemoved: false };
    await storage.record([{ tenantId, events: [arrived] }]);
    return event.eventId;
  };
  return { storage, tenantId, record };
}

test('recreates a dropped session from later events', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  const dropped = [await record(nowMs), await record(nowMs)];
  const laterMs = nowMs + 2 * dayMs;
  expect(await dropExpiredSessions(storage, laterMs)).toBe(1);
  const kept = await record(laterMs);
  const session = await storage.read(tenantId, (db) => findSession(db, tenantId, 'thread-1'));
  expect(session).toMatchObject({ event_count: 1, received_ms: laterMs });
  const events = await storage.read(tenantId, (db) => findEvents(db, tenantId, [...dropped, kept]));
  expect([...events.keys()]).toEqual([kept]);
});

test('drops sessions when another step of the cleanup fails', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  await record(nowMs);
  const locked = new Error('is locked by another process');
  storage.truncateLog = () => Promise.reject(locked);
  await expect(deleteExpiredData(storage, nowMs + 2 * dayMs)).rejects.toMatchObject({ errors: [locked] });
  expect(await storage.read(tenantId, (db) => findSession(db, tenantId, 'thread-1'))).toBeUndefined();
});

test('drops few sessions per transaction when they have many events', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  for (const id of ['a', 'b', 'c', 'd']) await record(nowMs, id);
  const laterMs = nowMs + 2 * dayMs;
  const retention = { tenantId, keptFromMs: laterMs - dayMs, rows: 20_000 };
  const outdated = () => storage.read(tenantId, (db) => expiredSessions(db, retention));
  expect(await outdated()).toHaveLength(4);
  await storage.write(tenantId, ({ db }) =>
    db.updateTable('sessions').set({ event_count: 9000 }).where('tenant_id', '=', tenantId).execute(),
  );
  expect(await outdated()).toHaveLength(2);
  await storage.write(tenantId, ({ db }) =>
    db.updateTable('sessions').set({ event_count: 90_000 }).where('tenant_id', '=', tenantId).execute(),
  );
  expect(await outdated()).toHaveLength(1);
  expect(await dropExpiredSessions(storage, laterMs)).toBe(4);
});

test('keeps sessions that people worked on in the database as long as a history keeps events', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  const ids = ['assigned', 'commented', 'handled', 'other'];
  for (const id of ids) await record(nowMs, id);
  await storage.write(tenantId, async ({ db }) => {
    await assignSessionTo(db, tenantId, 'assigned', 'ada');
    const note = {
      id: 'n',
      kind: 'comment' as const,
      text: 't',
      written_ms: nowMs,
      written_by: 'p',
      written_principal: null,
    };
    await db
      .insertInto('session_notes')
      .values({ ...note, tenant_id: tenantId, session_id: 'commented' })
      .execute();
    const handled = { score: 1, reason: 'r', handled_ms: nowMs, handled_by: 'p', handled_principal: null };
    await db
      .insertInto('handled_sessions')
      .values({ ...handled, tenant_id: tenantId, session_id: 'handled' })
      .execute();
  });
  const expired = async (keptByWorkFromMs?: number) => {
    const retention = { tenantId, keptFromMs: nowMs + 1, keptByWorkFromMs, rows: 1000 };
    const found = await storage.read(tenantId, (db) => expiredSessions(db, retention));
    return found.map(({ id }) => id).sort();
  };
  expect(await expired(nowMs)).toEqual(['other']);
  expect(await expired(nowMs + 1)).toEqual(ids);
  // Without a history, nothing else would have their events.
  expect(await expired()).toEqual(ids);
});

test('drops old counts a few per transaction, and keeps newer ones', async () => {
  const { storage, tenantId } = await withRetention();
  const nowMs = Date.now();
  const count = { tenant_id: tenantId, policy_id: 'p', actions: 1 };
  const old = Array.from({ length: 2300 }, (_, index) => ({ ...count, subject: `s-${index}`, slice_ms: 1 }));
  await storage.write(tenantId, async ({ db }) => {
    for (const row of [...old, { ...count, subject: 'new', slice_ms: nowMs }]) {
      await db.insertInto('policy_counts').values(row).execute();
    }
  });
  const transactions = vi.spyOn(storage, 'writeAcross');
  await deleteExpiredData(storage, nowMs);
  const left = await storage.readAcross('sweep', (db) =>
    db.selectFrom('policy_counts').select('subject').execute(),
  );
  expect(left).toEqual([{ subject: 'new' }]);
  // Three for the counts, three for the spans of the activity, and one for each other table.
  expect(transactions.mock.calls.filter(([kind]) => kind === 'sweep')).toHaveLength(11);
});

test('keeps sessions when the retention was extended after they were found', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  await record(nowMs);
  afterNextRead(() =>
    storage.writeAcross('administer', ({ db }) =>
      db.updateTable('tenants').set({ retention: null }).execute(),
    ),
  );
  expect(await dropExpiredSessions(storage, nowMs + 2 * dayMs)).toBe(0);
  expect(await storage.read(tenantId, (db) => findSession(db, tenantId, 'thread-1'))).toBeDefined();
});

/** Runs work on SQLite, and returns its statements with the steps of their plans. */
async function plansOf(work: () => Promise<unknown>): Promise<{ sql: string; steps: string[] }[]> {
  const statements = vi.spyOn(SqliteConnection.prototype, 'execute');
  atTestEnd(async () => statements.mockRestore());
  await work();
  const queried = statements.mock.calls.map(([sql, parameters], index) => ({
    connection: statements.mock.contexts[index] as SqliteConnection,
    sql,
    parameters,
  }));
  return queried
    .filter(({ sql }) => /^\s*(?:select|delete|update|with)/.test(sql))
    .map(({ connection, sql, parameters }) => {
      // The same plan for one row of a bulk write as for all.
      const given = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : parameters;
      const { rows } = connection.execute(`explain query plan ${sql}`, given);
      return { sql, steps: rows.map((step) => (step as { detail: string }).detail) };
    });
}

test.skipIf(onPostgres)('scans no large table in the cleanup', async () => {
  const { storage, record } = await withRetention();
  const nowMs = Date.now();
  await record(nowMs);
  const plans = await plansOf(() => deleteExpiredData(storage, nowMs + 2 * dayMs));
  const scanned = plans
    .filter(({ sql }) => /^\s*(?:select|delete)/.test(sql))
    .flatMap(({ steps }) => steps)
    // There are few tenants, few long sessions that are being deleted, and few parameters of a statement.
    .filter((detail) => /^SCAN (?!tenants|dropped_sessions|json_each)/.test(detail));
  expect(scanned).toEqual([]);
});

test.skipIf(onPostgres)(
  'reads no more of a large table than it needs, in a file that nobody has analyzed',
  async () => {
    const { storage, tenantId, record } = await withRetention();
    const nowMs = Date.now();
    await record(nowMs);
    const plans = await plansOf(async () => {
      await record(nowMs, 'thread-2');
      await storage.scoreSessions([]);
      await storage.appendToLog(tenantId, {});
      await deleteExpiredData(storage, nowMs + 2 * dayMs);
    });
    // All rows of a tenant, or of the table; the partial index of unscored and unlogged sessions has few.
    const whole =
      /^(?:SCAN|SEARCH) (?:sessions|events|session_\w+|log_(?:ranges|tiles|times))(?: USING (?!.*\bsessions_behind\b).*\(tenant_id=\?\))?$/;
    const reading = plans.filter(({ steps }) => steps.some((step) => whole.test(step)));
    // It reads the end of the table.
    const newestRow = 'select max(rowid) as last from events';
    expect(reading.map(({ sql }) => sql).filter((sql) => sql !== newestRow)).toEqual([]);
  },
);

/** Sets the clock of a deletion, whose transactions take as long as `advance` says, and replaces and collects its rests. */
function withClock() {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const rests: number[] = [];
  const { setTimeout: delay } = timers;
  const waiting = vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms) => {
    rests.push(Number(ms));
    nowMs += Number(ms);
  });
  // A mock of the module would not reach modules that another file of the worker has loaded.
  syncBuiltinESMExports();
  atTestEnd(async () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { rests, advance, waiting, delay };
}

test('deletes fewer rows in a transaction after a slow one, and more after a fast one', async () => {
  const { storage, tenantId } = await withRetention();
  const { advance } = withClock();
  const pace = new DeletionPace(storage);
  const target = storage.isShared ? 250 : 40;
  const rowsAfter = async (ms: number) => {
    await pace.write(tenantId, async () => advance(ms));
    return pace.rows;
  };
  expect(pace.rows).toBe(1000);
  expect(await rowsAfter(2 * target)).toBe(500);
  expect(await rowsAfter(100 * target)).toBe(200);
  expect(await rowsAfter(1)).toBe(400);
  for (let run = 0; run < 10; run += 1) await rowsAfter(0);
  expect(pace.rows).toBe(20_000);
});

test('leaves most of the time of the only writer to others', async () => {
  const { storage, tenantId } = await withRetention();
  const { rests, advance } = withClock();
  const pace = new DeletionPace(storage);
  const { write } = storage;
  // The commit takes its time, too, and the wait for others does not count.
  vi.spyOn(storage, 'write').mockImplementation(async (id, work) => {
    advance(500);
    const result = await write.call(storage, id, work);
    advance(10);
    return result as never;
  });
  await pace.write(tenantId, async () => advance(20));
  expect(rests).toEqual([]);
  await pace.write(tenantId, async () => advance(10_000));
  await pace.sweep(async () => {});
  expect(rests).toEqual(storage.isShared ? [] : [120, 1000]);
});

test('ends the rest of a deletion when the server stops', async () => {
  const { storage, tenantId } = await withRetention();
  const { advance, waiting, delay } = withClock();
  const stopping = new AbortController();
  const pace = new DeletionPace(storage, stopping.signal);
  waiting.mockImplementation((_, value, options) => {
    stopping.abort();
    return delay(3_600_000, value, options);
  });
  await pace.write(tenantId, async () => advance(20));
  expect(await pace.write(tenantId, async () => 'written')).toBe('written');
  expect(stopping.signal.aborted).toBe(!storage.isShared);
});

test('deletes many sessions with the statements of one', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  const statements = async (sessions: number, atMs: number) => {
    for (let number = 0; number < sessions; number += 1) await record(atMs, `s-${sessions}-${number}`);
    await storage.appendToLog(tenantId, { maxEvents: 1000 });
    let run = 0;
    await storage.write(tenantId, async ({ db }) => {
      const { executeQuery } = db.getExecutor().constructor.prototype;
      const spy = vi
        .spyOn(db.getExecutor().constructor.prototype, 'executeQuery')
        .mockImplementation(executeQuery);
      await pruneSome(db, tenantId, sessionStep, atMs + 2 * dayMs);
      run = spy.mock.calls.length;
      spy.mockRestore();
    });
    return run;
  };
  expect(await statements(1, nowMs)).toBe(await statements(20, nowMs + dayMs));
});

/** Returns a storage with a session that is too long for one transaction, and its last event. */
async function withLongSession() {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  const events = Array.from({ length: maxEventsAtOnce + 500 }, () =>
    activityEvent({ sessionId: 'thread-1' }),
  );
  for (let from = 0; from < events.length; from += 500) {
    const arrived = events.slice(from, from + 500).map((event, index) => ({
      event,
      sourceMs: nowMs + from + index,
      receivedMs: nowMs,
      protoKeysRemoved: false,
    }));
    await storage.record([{ tenantId, events: arrived }]);
  }
  while (await storage.appendToLog(tenantId, { maxEvents: 1000 }));
  await storage.scoreSessions([]);
  const eventIds = events.map(({ eventId }) => eventId);
  /** Returns what readers see of the session, and the rows that it has. */
  const state = () =>
    storage.read(tenantId, async (db) => {
      const { found } = await db
        .selectFrom('events')
        .select(({ fn }) => fn.countAll<number>().as('found'))
        .executeTakeFirstOrThrow();
      const { agentId = '' } = events[0] ?? {};
      return {
        session: (await findSession(db, tenantId, 'thread-1'))?.event_count,
        page: (await eventPage(db, { tenantId, sessionId: 'thread-1', limit: 1000 })).rows.length,
        searched: (await searchEvents(db, { tenantId, limit: 1000 })).rows.length,
        ofAgent: (await searchEvents(db, { tenantId, agentId, limit: 1000 })).rows.length,
        byId: (await findEvents(db, tenantId, eventIds)).size,
        rows: Number(found),
      };
    });
  const read = <Result>(work: (db: Database) => Promise<Result>) => storage.read(tenantId, work);
  const write = <Result>(work: (db: Database) => Promise<Result>) =>
    storage.write(tenantId, ({ db }) => work(db));
  return { storage, tenantId, record, nowMs, events, state, read, write };
}

const gone = { session: undefined, page: 0, searched: 0, ofAgent: 0, byId: 0 };

test('deletes a long session at once for readers, and its events in several transactions', async () => {
  const { storage, tenantId, record, nowMs, events, state, read, write } = await withLongSession();
  const laterMs = nowMs + 2 * dayMs;
  expect(await state()).toMatchObject({ session: events.length, rows: events.length, byId: events.length });
  const logged = await read((db) => logHead(db, tenantId));

  expect(await dropExpiredSessions(storage, laterMs)).toBe(1);
  expect(await state()).toEqual({ ...gone, rows: events.length });

  // The server stops in the middle.
  for (let run = 0; run < 3; run += 1) {
    expect(await write((db) => dropRestOfSessions(db, tenantId, 600))).toBe(true);
    expect(await state()).toMatchObject(gone);
  }
  const left = await state();
  expect(left.rows).toBeGreaterThan(0);
  expect(left.rows).toBeLessThan(events.length);

  // The agent goes on, and its new session has none of the old events.
  const kept = await record(laterMs);
  await storage.appendToLog(tenantId, { maxEvents: 1000 });
  await storage.scoreSessions([]);
  expect(await state()).toMatchObject({ session: 1, page: 1, searched: 1, ofAgent: 1, byId: 0 });

  await deleteExpiredData(storage, laterMs);
  expect(await state()).toMatchObject({ session: 1, page: 1, rows: 1 });
  expect(await read((db) => db.selectFrom('dropped_sessions').selectAll().execute())).toEqual([]);
  const summary = await read((db) => findSession(db, tenantId, 'thread-1'));
  expect(summary).toMatchObject({ event_count: 1, risk_score: expect.any(Number) });
  expect([...(await read((db) => findEvents(db, tenantId, [kept]))).keys()]).toEqual([kept]);

  // Each entry is deleted once, and no other.
  const deletions = await read((db) =>
    db.selectFrom('log_deletions').select('record').orderBy('id').execute(),
  );
  const records = deletions.map(({ record: json }) => JSON.parse(json));
  const entries = records.flatMap((row) => row.entries as [number, number][]);
  const indexes = entries.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
  expect(indexes.toSorted((left, right) => left - right)).toEqual(
    Array.from({ length: events.length }, (_, at) => logged.size - events.length + at),
  );
  expect(records.map(({ sessions }) => sessions).reduce((sum, each) => sum + each)).toBe(1);
});

test('deletes a session again while events of its first deletion are left', async () => {
  const { storage, tenantId, record, nowMs, state, read } = await withLongSession();
  const laterMs = nowMs + 2 * dayMs;
  await dropExpiredSessions(storage, laterMs);
  await record(laterMs);
  expect(await dropExpiredSessions(storage, laterMs + 2 * dayMs)).toBe(1);
  expect(await state()).toMatchObject(gone);
  await deleteExpiredData(storage, laterMs + 2 * dayMs);
  expect(await state()).toEqual({ ...gone, rows: 0 });
  expect(
    await read((db) => db.selectFrom('log_ranges').select('id').where('kind', '=', 'event').execute()),
  ).toEqual([]);
  expect(
    await read((db) => db.selectFrom('log_ranges').select('id').where('tenant_id', '=', tenantId).execute()),
  ).not.toEqual([]);
});

test('finishes an interrupted erasure of a long session in a tenant without retention', async () => {
  const { storage, tenantId, nowMs, state, read, write } = await withLongSession();
  await storage.writeAcross('administer', ({ db }) =>
    db.updateTable('tenants').set({ retention: null }).execute(),
  );
  const reason = { by: 'operator', erasure: 'Request 12' } as const;
  await write((db) => dropSessions(db, tenantId, ['thread-1'], nowMs, { reason }));
  expect(await state()).toMatchObject(gone);
  await deleteExpiredData(storage, nowMs);
  expect(await state()).toEqual({ ...gone, rows: 0 });
  const [deletion] = await read((db) => db.selectFrom('log_deletions').select('record').execute());
  expect(JSON.parse(deletion?.record ?? '')).toMatchObject(reason);
});

test('counts a repeated event of a deleted session as a repeat while it is there', async () => {
  const { storage, tenantId, nowMs, events, state } = await withLongSession();
  await dropExpiredSessions(storage, nowMs + 2 * dayMs);
  const [event] = events;
  if (!event) throw new Error('No event.');
  const again = { event, sourceMs: nowMs, receivedMs: nowMs, protoKeysRemoved: false };
  await storage.record([{ tenantId, events: [again] }]);
  expect(await state()).toEqual({ ...gone, rows: events.length });
});

test('drops held actions past retention with their displayed arguments, unless they are pending', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-retention-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  const first = await testServer({ database });
  await first.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 604_800, onTimeout: 'deny' },
  });
  const action = { toolName: 'refund', argumentsHash: 'sha256:1', arguments: { amount: 40 } };
  // Without a session: held actions belong to the tenant.
  const hold = (server: typeof first, actionId: string) =>
    server.check({ actionId, action, sessionId: undefined });
  const { pendingActionId } = await hold(first, 'decided');
  await first.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  const waiting = await hold(first, 'waiting');
  await first.server.admin.tenants.setRetention('default', { approvals: 183 });
  await first.server.close();

  const storage = await openStorage({
    database: (await withTestDatabase({ database })).database as string,
    connections: 2,
  });
  await deleteExpiredData(storage, Date.now() + 184 * dayMs);
  await storage.close();

  const second = await testServer({ database });
  const held = async (status: string) =>
    (await second.ok('guardian.pendingActions.list', { query: { status } })).items.map(({ id }) => id);
  expect(await held('denied')).toEqual([]);
  expect(await held('pending')).toEqual([waiting.pendingActionId]);
  expect((await hold(second, 'waiting')).pendingActionId).toBe(waiting.pendingActionId);
  const again = await hold(second, 'decided');
  expect(again.decision).toBe('require_approval');
  expect(again.pendingActionId).not.toBe(pendingActionId);
});
