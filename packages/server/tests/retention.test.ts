import { expect, test } from 'vitest';
import { dropOutdatedSessions } from '../src/housekeeping.ts';
import { ensureTenant } from '../src/keys/provisioning.ts';
import { findEvents } from '../src/storage/event-log.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { findSession } from '../src/storage/session-store.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent } from './test-server.ts';

const dayMs = 24 * 3_600_000;

test('a session that goes on after it was dropped begins anew', async () => {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', async ({ db }) => {
    const id = await ensureTenant(db, 'one');
    await db.updateTable('tenants').set({ retention_days: 1 }).where('id', '=', id).execute();
    return id;
  });
  const record = async (receivedMs: number): Promise<string> => {
    const event = activityEvent();
    const arrived = { event, sourceMs: receivedMs, receivedMs, protoKeysRemoved: false };
    await storage.record([{ tenantId, events: [arrived] }]);
    return event.eventId;
  };
  const nowMs = Date.now();
  const dropped = [await record(nowMs), await record(nowMs)];
  const laterMs = nowMs + 2 * dayMs;
  expect(await dropOutdatedSessions(storage, laterMs)).toBe(1);
  const kept = await record(laterMs);
  const session = await storage.read(tenantId, (db) => findSession(db, tenantId, 'thread-1'));
  expect(session).toMatchObject({ event_count: 1, received_ms: laterMs });
  const events = await storage.read(tenantId, (db) => findEvents(db, tenantId, [...dropped, kept]));
  expect([...events.keys()]).toEqual([kept]);
});
