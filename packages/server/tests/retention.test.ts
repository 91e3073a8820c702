import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dropOutdatedSessions, keepHouse } from '../src/housekeeping.ts';
import { ensureTenant } from '../src/keys/provisioning.ts';
import { findEvents } from '../src/storage/event-log.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { outdatedSessions } from '../src/storage/retention.ts';
import { findSession } from '../src/storage/session-store.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, testServer } from './test-server.ts';

const dayMs = 24 * 3_600_000;

/** A storage with a tenant that keeps sessions a day, and what records an event of one. */
async function withRetention() {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', async ({ db }) => {
    const id = await ensureTenant(db, 'one');
    await db.updateTable('tenants').set({ retention_days: 1 }).where('id', '=', id).execute();
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

test('a session that goes on after it was dropped begins anew', async () => {
  const { storage, tenantId, record } = await withRetention();
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

test('sessions are dropped where another part of the housekeeping cannot be done', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  await record(nowMs);
  const locked = new Error('is locked by another process');
  storage.maintain = () => Promise.reject(locked);
  await expect(keepHouse(storage, nowMs + 2 * dayMs)).rejects.toMatchObject({ errors: [locked] });
  expect(await storage.read(tenantId, (db) => findSession(db, tenantId, 'thread-1'))).toBeUndefined();
});

test('one transaction drops few sessions where they have many events', async () => {
  const { storage, tenantId, record } = await withRetention();
  const nowMs = Date.now();
  for (const id of ['a', 'b', 'c', 'd']) await record(nowMs, id);
  const laterMs = nowMs + 2 * dayMs;
  const outdated = () => storage.readAcross('sweep', (db) => outdatedSessions(db, laterMs));
  expect(await outdated()).toHaveLength(4);
  await storage.write(tenantId, ({ db }) =>
    db.updateTable('sessions').set({ event_count: 9000 }).where('tenant_id', '=', tenantId).execute(),
  );
  expect(await outdated()).toHaveLength(2);
  await storage.write(tenantId, ({ db }) =>
    db.updateTable('sessions').set({ event_count: 90_000 }).where('tenant_id', '=', tenantId).execute(),
  );
  expect(await outdated()).toHaveLength(1);
  expect(await dropOutdatedSessions(storage, laterMs)).toBe(4);
});

test('held actions go when they are as old as is kept, with what was shown of them, unless they wait still', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-retention-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  const first = await testServer({ database });
  await first.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 604_800, onTimeout: 'deny' },
  });
  const action = { toolName: 'refund', argumentsHash: 'sha256:1', arguments: { amount: 40 } };
  // Of no session: what is held belongs to the tenant.
  const hold = (server: typeof first, actionId: string) =>
    server.check({ actionId, action, sessionId: undefined });
  const { pendingActionId } = await hold(first, 'decided');
  await first.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  const waiting = await hold(first, 'waiting');
  await first.server.admin.setRetention('default', 1);
  await first.server.close();

  const storage = await openStorage({
    database: (await withTestDatabase({ database })).database as string,
    connections: 2,
  });
  await keepHouse(storage, Date.now() + 2 * dayMs);
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
