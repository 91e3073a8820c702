import { parseSession, stampOf } from '@actlog/risk';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { activityEvent } from '../../tests/test-server.ts';
import type { NewEvent } from '../storage/event-recording.ts';
import { migrate } from '../storage/migrate.ts';
import { sqliteMigrations } from '../storage/migrations/sqlite.ts';
import type { Tables } from '../storage/schema.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import { SqliteConnection, sqliteDialect } from '../storage/sqlite/sqlite-connection.ts';
import { findSessionRisk } from '../storage/stores/risk-store.ts';
import { Recording } from './recording.ts';

const tenantId = 1;

/** A recording on its own database, whose commits can be made to fail. */
class Recorded {
  readonly db: Kysely<Tables>;
  readonly recording: Recording;
  /** `true` to make the next commit fail. */
  failsNext = false;

  private constructor() {
    const connection = new SqliteConnection({ file: ':memory:', writes: true });
    this.db = new Kysely<Tables>({
      dialect: sqliteDialect({
        execute: (sql, parameters) => {
          if (sql === 'commit' && this.failsNext) {
            this.failsNext = false;
            throw new Error('the disk is full');
          }
          return connection.execute(sql, parameters);
        },
        close: () => connection.close(),
      }),
    });
    this.recording = new Recording(this.db);
  }

  static async start(): Promise<Recorded> {
    const recorded = new Recorded();
    await recorded.db.transaction().execute((db) => migrate(db, sqliteMigrations, () => {}));
    await recorded.db
      .insertInto('tenants')
      .values({ id: tenantId, name: 'test', created_ms: 0, settings_version: 0 })
      .execute();
    return recorded;
  }

  /** Records one event for each of the sessions, in one write. */
  async add(...sessionIds: string[]): Promise<void> {
    await this.record(...sessionIds.map((sessionId) => newEvent({ sessionId })));
  }

  async record(...events: NewEvent[]): Promise<void> {
    await this.recording.record([{ tenantId, events }]);
  }

  /** Returns the number of events in the stored risk of a session. */
  async observed(sessionId: string): Promise<number | undefined> {
    const stored = await findSessionRisk(this.db, tenantId, sessionId);
    return stored && parseSession(stored.state).eventCount;
  }

  /** Returns the stamps of a session's events. */
  async stamps(sessionId: string): Promise<number[]> {
    const rows = await this.db
      .selectFrom('events')
      .select('stamp')
      .where('session_id', '=', sessionId)
      .execute();
    return rows.map(({ stamp }) => stamp);
  }

  async score(sessionId: string): Promise<number | null | undefined> {
    return (await findSession(this.db, tenantId, sessionId))?.risk_score;
  }
}

function newEvent(fields: Parameters<typeof activityEvent>[0]): NewEvent {
  const event = activityEvent({ eventId: crypto.randomUUID(), ...fields });
  const sourceMs = Date.parse(event.sourceTimestamp);
  return { event, sourceMs, receivedMs: sourceMs, protoKeysRemoved: false };
}

test('keeps every event of a session that its own write evicted, and counts none twice', async () => {
  const recorded = await Recorded.start();
  await recorded.add('oldest');
  for (let start = 0; start < 1999; start += 500) {
    const more = Array.from({ length: Math.min(500, 1999 - start) }, (_, index) => `other ${start + index}`);
    await recorded.add(...more);
  }
  await recorded.add('oldest', 'newest');
  while ((await recorded.recording.scoreSessions([])).unscored > 0);
  expect(await recorded.observed('oldest')).toBe(2);
  await recorded.add('oldest');
  await recorded.recording.scoreSessions([]);
  expect(await recorded.observed('oldest')).toBe(3);
});

test('remembers unscored sessions after its caches were dropped', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a', 'b');
  recorded.recording.forget();
  await recorded.add('c');
  expect(await recorded.recording.scoreSessions([])).toMatchObject({ unscored: 0 });
  for (const id of ['a', 'b', 'c']) {
    expect(await recorded.score(id)).not.toBeNull();
    expect(await recorded.observed(id)).toBe(1);
  }
});

test('scores again after a failed commit', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a');
  recorded.failsNext = true;
  await expect(recorded.recording.scoreSessions([])).rejects.toThrow('the disk is full');
  expect(await recorded.score('a')).toBeNull();
  expect(await recorded.recording.scoreSessions([])).toMatchObject({ unscored: 0 });
  expect(await recorded.score('a')).not.toBeNull();
});

/** Returns a message event. The same content from another agent is a replayed message. */
function message(sessionId: string, agentId: string, fields: Parameters<typeof activityEvent>[0] = {}) {
  const payload = { toAgentId: 'everyone', contentHash: 'sha256:same' };
  return newEvent({ sessionId, agentId, category: 'agent_message', payload, ...fields });
}

const replayed = stampOf('message_replayed');

test('remembers the observed state of a tenant after its caches were dropped', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a');
  await recorded.recording.scoreSessions([]);
  await recorded.record(message('one', 'a1'));
  recorded.recording.forget();
  await recorded.record(message('two', 'a2'));
  expect((await recorded.stamps('two')).map((stamp) => stamp & replayed)).toEqual([replayed]);
});

test('does not observe events that were not committed', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a');
  recorded.failsNext = true;
  await expect(recorded.record(message('one', 'a1'))).rejects.toThrow('the disk is full');
  await recorded.record(message('two', 'a2'));
  expect((await recorded.stamps('two')).map((stamp) => stamp & replayed)).toEqual([0]);
});

test('changes nothing for an event with the id of another, not even the observed state', async () => {
  const recorded = await Recorded.start();
  const first = newEvent({ sessionId: 'a' });
  await recorded.record(first);
  await recorded.record(message('b', 'ghost', { eventId: first.event.eventId }));
  await recorded.record(message('c', 'honest'));
  expect((await recorded.stamps('c')).map((stamp) => stamp & replayed)).toEqual([0]);
  await recorded.record(message('d', 'other'));
  expect((await recorded.stamps('d')).map((stamp) => stamp & replayed)).toEqual([replayed]);
});
