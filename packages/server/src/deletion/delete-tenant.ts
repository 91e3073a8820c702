import { sql } from 'kysely';
import { repeat } from '../lib/repeat.ts';
import {
  checkTables,
  countTables,
  dataTables,
  markTenantDeleted,
  markTenantEmptied,
  tenantsDeletedBefore,
} from '../storage/deleted-tenants.ts';
import { dropRows, type KeyedTable } from '../storage/retention/drop-rows.ts';
import { dropSessions } from '../storage/retention/drop-sessions.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { dropInBatches } from './session-batches.ts';

/** Time after which no request admitted before the tenant's deletion can be in progress, in milliseconds. */
const settledAfterMs = 3_600_000;

/**
 * Deletes a tenant permanently. Its keys are refused and its name is free at once. Its data is deleted in many small
 * transactions, so that other tenants get their turn. If the process ends meanwhile, cleanup does the rest.
 *
 * @param onKeyEnded - called with the id of each key of the tenant
 * @throws Error when there is no such tenant.
 */
export async function deleteTenant(
  storage: Storage,
  name: string,
  nowMs: number,
  onKeyEnded: (keyId: string) => void,
): Promise<void> {
  const { tenantId, keyIds } = await storage.writeAcross('administer', ({ db }) =>
    markTenantDeleted(db, name, nowMs),
  );
  for (const keyId of keyIds) onKeyEnded(keyId);
  await dropTenantData(storage, tenantId);
}

/**
 * Deletes the remaining data of tenants that were deleted a while ago. Data that checks depend on is deleted only now:
 * a check in progress would have found no policy, and the call would have run.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 */
export async function dropDeletedTenants(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const hidden = await storage.readAcross('sweep', (db) => tenantsDeletedBefore(db, nowMs - settledAfterMs));
  for (const tenantId of hidden) {
    await dropAll(storage, tenantId, checkTables, signal);
    await dropTenantData(storage, tenantId, signal);
    await dropAll(storage, tenantId, countTables, signal);
    if (signal?.aborted) return;
    await storage.write(tenantId, ({ db }) => markTenantEmptied(db, tenantId, nowMs));
  }
}

async function dropTenantData(storage: Storage, tenantId: number, signal?: AbortSignal): Promise<void> {
  await dropAll(storage, tenantId, dataTables, signal);
  const everySession = { tenantId, keptFromMs: Number.MAX_SAFE_INTEGER };
  await dropInBatches(
    storage,
    everySession,
    (db, ids) => dropSessions(db, tenantId, ids, Date.now()),
    signal,
  );
}

/** Deletes all rows of a tenant in some tables. */
async function dropAll(
  storage: Storage,
  tenantId: number,
  tables: readonly KeyedTable[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const ofTenant = sql`tenant_id = ${tenantId}`;
  const drop = async (db: Database): Promise<boolean> => {
    let isMore = false;
    for (const table of tables) isMore = (await dropRows(db, table, ofTenant)).hasMore || isMore;
    return isMore;
  };
  await repeat(() => storage.write(tenantId, ({ db }) => drop(db)), signal);
}
