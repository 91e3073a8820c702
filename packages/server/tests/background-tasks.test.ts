import { expect, test } from 'vitest';
import { BackgroundTasks, dropExpiredSessions } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import { learnFromEndedSessions } from '../src/risk/learning.ts';
import type { Storage } from '../src/storage/storage.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent } from './test-server.ts';

const dayMs = 24 * 3_600_000;

/** Returns a database with sessions of a tenant that keeps them for a day. */
async function withSessions(count: number): Promise<Storage> {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 4 });
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
  const nowMs = Date.now();
  const events = Array.from({ length: count }, (_, index) => ({
    event: activityEvent({ sessionId: `s-${index}` }),
    sourceMs: nowMs,
    receivedMs: nowMs,
    protoKeysRemoved: false,
  }));
  await storage.record([{ tenantId, events }]);
  return storage;
}

test('aborts a running round on stop, and waits for it', async () => {
  const tasks = new BackgroundTasks(() => {});
  let isEnded = false;
  await new Promise<void>((resolve) => {
    tasks.every(1, 'work', async (signal) => {
      resolve();
      await new Promise((aborted) => signal.addEventListener('abort', aborted));
      isEnded = true;
    });
  });
  await tasks.stop();
  expect(isEnded).toBe(true);
});

test.each([
  ['learning', learnFromEndedSessions],
  ['retention', dropExpiredSessions],
])('%s processes all sessions, and starts no step once it is stopped', async (_, sweep) => {
  const count = 230;
  const laterMs = Date.now() + 2 * dayMs;
  const storage = await withSessions(count);
  const stopping = new AbortController();
  const sweeping = sweep(storage, laterMs, stopping.signal);
  stopping.abort();
  const first = await sweeping;
  expect(first).toBeLessThanOrEqual(100);
  expect(await sweep(storage, laterMs)).toBe(count - first);
});
