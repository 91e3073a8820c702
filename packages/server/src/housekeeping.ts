import { answersKeptForMs } from './http/idempotency.ts';
import { oldDeliveries } from './storage/delivery-store.ts';
import { dropOldest, type OldRows, oldRows } from './storage/old-rows.ts';
import { oldCounts } from './storage/policy-count-store.ts';
import {
  dropOutdated,
  oldHeldActions,
  outdatedSessions,
  type Retention,
  retentions,
} from './storage/retention.ts';
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
 * @param signal - aborts to have the rest left for another time
 * @throws AggregateError with what kept parts from being done.
 */
export async function keepHouse(storage: Storage, nowMs: number, signal?: AbortSignal): Promise<void> {
  const parts = [
    () => storage.maintain(nowMs),
    ...leftovers(nowMs).map((rows) => () => dropLeftovers(storage, rows, signal)),
    () => dropHeldActions(storage, nowMs, signal),
    () => dropOutdatedSessions(storage, nowMs, signal),
  ];
  const errors: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw new AggregateError(errors, 'Not all of the housekeeping could be done.');
}

/** What nobody looks at any more, of all tenants. */
function leftovers(nowMs: number): OldRows[] {
  const answers = oldRows({
    table: 'idempotency_keys',
    key: ['tenant_id', 'endpoint', 'key'],
    age: 'created_ms',
    beforeMs: nowMs - answersKeptForMs + 1,
  });
  return [answers, ...oldCounts(nowMs - countsKeptForMs), oldDeliveries(nowMs - deliveriesKeptForMs)];
}

async function dropLeftovers(
  storage: Storage,
  rows: OldRows,
  signal: AbortSignal | undefined,
): Promise<void> {
  await repeat(() => storage.writeAcross('sweep', ({ db }) => dropOldest(db, rows)), signal);
}

async function dropHeldActions(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { tenantId, keptFromMs } of await keptFrom(storage, nowMs)) {
    for (const rows of oldHeldActions(tenantId, keptFromMs)) {
      await repeat(() => storage.write(tenantId, ({ db }) => dropOldest(db, rows)), signal);
    }
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
  for (const retention of await keptFrom(storage, nowMs)) {
    const { tenantId } = retention;
    await repeat(async () => {
      const ids = await storage.read(tenantId, (db) => outdatedSessions(db, retention));
      if (ids.length === 0) return false;
      const droppedNow = await storage.write(tenantId, async ({ db }) => {
        const count = await dropOutdated(db, tenantId, ids, nowMs);
        // Within the transaction, so that no event can come in between that counts on a dropped session.
        storage.forgetSessions();
        return count;
      });
      dropped += droppedNow;
      // None, where the tenant keeps them longer by now: they would be found again for ever.
      return droppedNow > 0;
    }, signal);
    if (signal?.aborted) break;
  }
  return dropped;
}

function keptFrom(storage: Storage, nowMs: number): Promise<Retention[]> {
  return storage.readAcross('sweep', (db) => retentions(db, nowMs));
}

/** Does `work`, each time a transaction of its own, until it says that nothing is left. */
async function repeat(work: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  while (!signal?.aborted && (await work()));
}
