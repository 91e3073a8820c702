import { answersKeptForMs } from './http/idempotency.ts';
import { dropOldDeliveries } from './storage/delivery-store.ts';
import { dropOldCounts } from './storage/policy-count-store.ts';
import { dropSession, outdatedSessions } from './storage/retention.ts';
import type { Storage } from './storage/storage.ts';

const dayMs = 24 * 3_600_000;

/** Milliseconds that finished deliveries stay in the log. */
const deliveriesKeptForMs = 30 * dayMs;

/** Milliseconds of counted actions: the longest window of a rate condition is a day. */
const countsKeptForMs = 2 * dayMs;

/** Drops what nobody looks at any more, and the sessions that their tenant does not keep. */
export async function keepHouse(storage: Storage, nowMs: number): Promise<void> {
  await storage.writeAll(async ({ db }) => {
    await db
      .deleteFrom('idempotency_keys')
      .where('created_ms', '<=', nowMs - answersKeptForMs)
      .execute();
    await dropOldCounts(db, nowMs - countsKeptForMs);
    await dropOldDeliveries(db, nowMs - deliveriesKeptForMs);
  });
  await dropOutdatedSessions(storage, nowMs);
}

/** Drops the sessions that their tenant does not keep, a few a transaction. Returns how many. */
export async function dropOutdatedSessions(storage: Storage, nowMs: number): Promise<number> {
  let dropped = 0;
  for (;;) {
    const outdated = await storage.readAll((db) => outdatedSessions(db, nowMs));
    if (outdated.length === 0) return dropped;
    await storage.writeAll(async ({ db }) => {
      for (const { tenant_id: tenantId, id } of outdated) await dropSession(db, tenantId, id);
    });
    dropped += outdated.length;
  }
}
