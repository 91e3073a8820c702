import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStorage } from '../../src/open-storage.ts';
import { learnFromEndedSessions } from '../../src/risk/learning.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { activityEvent, type TestServer, testServer } from '../test-server.ts';

let database: string;
let server: TestServer;
let other: pg.Client;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  database = await createDatabase();
  server = await testServer({ database, secret: testSecret });
  other = new pg.Client({ connectionString: database.replace('//actlog@', '//postgres@') });
  await other.connect();
  atTestEnd(() => other.end());
});

afterEach(() => {
  vi.useRealTimers();
});

/** Resolves when a connection waits for a lock. */
function waiting(): Promise<void> {
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return vi.waitFor(async () => expect(await asSuperuser(waits, database)).not.toEqual([]));
}

/** Runs `work` on the sessions `a` and `b` while another transaction locks first one and then the other. */
async function crossing(work: () => Promise<unknown>): Promise<void> {
  await other.query(`begin; select from sessions where id = 'a' for update`);
  const done = work();
  await waiting();
  // A transaction that waits for one must not have locked the other.
  await other.query(`select from sessions where id = 'b' for update nowait; commit`);
  await done;
}

test('expires concurrent actions beside writes to their sessions', async () => {
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 1, onTimeout: 'deny' } });
  for (const sessionId of ['b', 'a']) {
    await server.check({ sessionId });
    await server.ok('sessions.risk', { id: sessionId });
    vi.setSystemTime(Date.now() + 1);
  }
  await crossing(() => vi.advanceTimersByTimeAsync(1000));
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(1000);
    const { items } = await server.ok('sessions.list');
    expect(items).toMatchObject([
      { id: 'a', eventCount: 2 },
      { id: 'b', eventCount: 2 },
    ]);
  });
});

test('learns from sessions beside writes to them', async () => {
  // PostgreSQL finds rows in the order of an index or of their creation; these settings enforce the latter.
  const url = `${database}?options=${encodeURIComponent('-c enable_indexscan=off -c enable_bitmapscan=off')}`;
  for (const sessionId of ['b', 'a']) {
    await server.record({ sessionId });
    await server.ok('sessions.risk', { id: sessionId });
  }
  const storage = await openStorage({ database: url, connections: 2 });
  atTestEnd(() => storage.close());
  await crossing(() => learnFromEndedSessions(storage, Date.now() + 24 * 3_600_000));
  const { rows } = await other.query('select risk_learned from sessions');
  expect(rows).toEqual([{ risk_learned: 1 }, { risk_learned: 1 }]);
});

test('creates a session beside writes to others of the same group', async () => {
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  await server.record({ sessionId: 'b' });
  const columns =
    'tenant_id, agent_id, agent_ids, tool_names, started_ms, last_event_ms, received_ms, event_count, error_count, last_arrival, risk_arrival, risk_learned';
  await other.query(
    `begin; insert into sessions (id, ${columns}) select 'a', ${columns} from sessions where id = 'b'`,
  );
  const nowMs = Date.now();
  const events = ['a', 'b', 'c'].map((sessionId) => ({
    event: activityEvent({ sessionId }),
    sourceMs: nowMs,
    receivedMs: nowMs,
    protoKeysRemoved: false,
  }));
  const recorded = storage.record([{ tenantId: 1, events }]);
  await waiting();
  // A transaction that waits to create one session must not have locked another, whatever was committed in between.
  await other.query(`select from sessions where id = 'b' for update nowait; rollback`);
  expect((await recorded).outcomes).toMatchObject([[{ isNew: true }, { isNew: true }, { isNew: true }]]);
  const { items } = await server.ok('sessions.list', { query: { agentId: 'billing-agent' } });
  expect(Object.fromEntries(items.map(({ id, eventCount }) => [id, eventCount]))).toEqual({
    a: 1,
    b: 2,
    c: 1,
  });
});
