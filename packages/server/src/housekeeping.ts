import { dropDeletedTenants } from './deletion/delete-tenant.ts';
import { dropInBatches } from './deletion/session-batches.ts';
import { answersKeptForMs } from './http/idempotency.ts';
import { repeat } from './repeat.ts';
import { oldDeliveries } from './storage/delivery-store.ts';
import { dropOldest, type OldRows, oldRows } from './storage/old-rows.ts';
import { oldCounts } from './storage/policy-count-store.ts';
import { dropOutdated, oldHeldActions, type Retention, retentions } from './storage/retention.ts';
import type { Storage } from './storage/storage.ts';
import type { Database } from './storage/transaction.ts';

const dayMs = 24 * 3_600_000;

/** Milliseconds that finished deliveries stay in the log. */
const deliveriesKeptForMs = 30 * dayMs;

/** Milliseconds of counted actions: the longest window of a rate condition is a day. */
const countsKeptForMs = 2 * dayMs;

/**
 * Drops what nobody looks at any more, the sessions and held actions that their tenant does not keep, and what deleted
 * tenants left. A part that cannot be done now, as where another process holds a lock, is no reason to leave the others.
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
    () => dropDeletedTenants(storage, nowMs, signal),
    () => storage.emptyLog(),
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
    const drop = (db: Database, ids: readonly string[]) => dropOutdated(db, retention.tenantId, ids, nowMs);
    dropped += await dropInBatches(storage, retention, drop, signal);
    if (signal?.aborted) break;
  }
  return dropped;
}

function keptFrom(storage: Storage, nowMs: number): Promise<Retention[]> {
  return storage.readAcross('sweep', (db) => retentions(db, nowMs));
}
