import { answersKeptForMs } from './http/idempotency.ts';
import { dropOldDeliveries } from './storage/delivery-store.ts';
import { dropOldCounts } from './storage/policy-count-store.ts';
import { dropEndedActions, dropOutdated, outdatedSessions, retentions } from './storage/retention.ts';
import type { Storage } from './storage/storage.ts';

const dayMs = 24 * 3_600_000;

/** Milliseconds that finished deliveries stay in the log. */
const deliveriesKeptForMs = 30 * dayMs;

/** Milliseconds of counted actions: the longest window of a rate condition is a day. */
const countsKeptForMs = 2 * dayMs;

/**
 * Drops what nobody looks at any more, and the sessions and held actions that their tenant does not keep. A part that
 * cannot be done now, as where another process holds a lock, is no reason to leave the others.
 *
 * @throws AggregateError with what kept parts from being done.
 */
export async function keepHouse(storage: Storage, nowMs: number, signal?: AbortSignal): Promise<void> {
  const parts = [
    () => storage.maintain(nowMs),
    () => dropLeftovers(storage, nowMs),
    () => dropUnkeptActions(storage, nowMs),
    () => dropOutdatedSessions(storage, nowMs, signal),
  ];
  const errors: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw new AggregateError(errors, 'Not all of the housekeeping could be done.');
}

async function dropLeftovers(storage: Storage, nowMs: number): Promise<void> {
  await storage.writeAcross('sweep', async ({ db }) => {
    await db
      .deleteFrom('idempotency_keys')
      .where('created_ms', '<=', nowMs - answersKeptForMs)
      .execute();
    await dropOldCounts(db, nowMs - countsKeptForMs);
    await dropOldDeliveries(db, nowMs - deliveriesKeptForMs);
  });
}

async function dropUnkeptActions(storage: Storage, nowMs: number): Promise<void> {
  for (const { tenantId, keptFromMs } of await storage.readAcross('sweep', (db) => retentions(db, nowMs))) {
    await storage.write(tenantId, ({ db }) => dropEndedActions(db, tenantId, keptFromMs));
  }
}

/**
 * Drops the sessions that their tenant does not keep, a few a transaction.
 *
 * @param signal - aborts to have the rest left for another time
 * @returns how many were dropped.
 */
export async function dropOutdatedSessions(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let dropped = 0;
  while (!signal?.aborted) {
    const outdated = await storage.readAcross('sweep', (db) => outdatedSessions(db, nowMs));
    if (outdated.length === 0) break;
    for (const [tenantId, sessions] of Map.groupBy(outdated, (session) => session.tenant_id)) {
      const ids = sessions.map(({ id }) => id);
      await storage.write(tenantId, async ({ db }) => {
        await dropOutdated(db, tenantId, ids, nowMs);
        // Within the transaction, so that no event can come in between that counts on a dropped session.
        storage.forgetSessions();
      });
    }
    dropped += outdated.length;
  }
  return dropped;
}
