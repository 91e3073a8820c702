import { parseSession } from '@actlog/risk';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { activityEvent } from '../../tests/test-server.ts';
import { migrate } from '../storage/migrate.ts';
import { sqliteMigrations } from '../storage/migrations/sqlite.ts';
import { findSessionRisk } from '../storage/risk-store.ts';
import type { Tables } from '../storage/schema.ts';
import { findSession } from '../storage/session-store.ts';
import { SqliteConnection } from '../storage/sqlite-connection.ts';
import { sqliteDialect } from '../storage/sqlite-dialect.ts';
import type { NewEvent } from './new-event.ts';
import { Recording } from './recording.ts';

const tenantId = 1;

/** A recording on a database of its own, with commits that can be made to fail. */
class Recorded {
  readonly db: Kysely<Tables>;
  readonly recording: Recording;
  /** Whether the next commit fails. */
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
    await recorded.db.transaction().execute((db) => migrate(db, sqliteMigrations));
    await recorded.db
      .insertInto('tenants')
      .values({ id: tenantId, name: 'test', created_ms: 0, settings_version: 0 })
      .execute();
    return recorded;
  }

  /** Records an event of each of these sessions in one write. */
  async add(...sessionIds: string[]): Promise<void> {
    await this.record(...sessionIds.map((sessionId) => newEvent({ sessionId })));
  }

  async record(...events: NewEvent[]): Promise<void> {
    await this.recording.record([{ tenantId, events }]);
  }

  /** How many events the stored risk of a session holds. */
  async observed(sessionId: string): Promise<number | undefined> {
    const stored = await findSessionRisk(this.db, tenantId, sessionId);
    return stored && parseSession(stored.state).eventCount;
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

test('a session that others of its write push out loses no event, and counts none twice', async () => {
  const recorded = await Recorded.start();
  await recorded.add('oldest');
  for (let start = 0; start < 1999; start += 500) {
    const more = Array.from({ length: Math.min(500, 1999 - start) }, (_, index) => `other ${start + index}`);
    await recorded.add(...more);
  }
  await recorded.add('oldest', 'newest');
  while ((await recorded.recording.settle([])).unsettled > 0);
  expect(await recorded.observed('oldest')).toBe(2);
  await recorded.add('oldest');
  await recorded.recording.settle([]);
  expect(await recorded.observed('oldest')).toBe(3);
});

test('what is still to be scored is known after all else is forgotten', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a', 'b');
  recorded.recording.forget();
  await recorded.add('c');
  expect(await recorded.recording.settle([])).toMatchObject({ unsettled: 0 });
  for (const id of ['a', 'b', 'c']) {
    expect(await recorded.score(id)).not.toBeNull();
    expect(await recorded.observed(id)).toBe(1);
  }
});

test('scoring that could not be committed is made up for', async () => {
  const recorded = await Recorded.start();
  await recorded.add('a');
  recorded.failsNext = true;
  await expect(recorded.recording.settle([])).rejects.toThrow('the disk is full');
  expect(await recorded.score('a')).toBeNull();
  expect(await recorded.recording.settle([])).toMatchObject({ unsettled: 0 });
  expect(await recorded.score('a')).not.toBeNull();
});
