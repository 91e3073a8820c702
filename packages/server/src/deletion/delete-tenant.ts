import { sql } from 'kysely';
import { repeat } from '../repeat.ts';
import { dropRows, type KeyedTable } from '../storage/drop-rows.ts';
import { dropSessions } from '../storage/drop-sessions.ts';
import {
  hideTenant,
  noteEmptied,
  possessions,
  remains,
  tally,
  tenantsHiddenBefore,
} from '../storage/hidden-tenants.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { dropInBatches } from './session-batches.ts';

/** Milliseconds after which no request can be on its way any more that was let in before its tenant was deleted. */
const settledAfterMs = 3_600_000;

/**
 * Deletes a tenant for good. Its keys are refused and its name is free at once; what it has goes in many small
 * transactions, so that other tenants get their turn. Should the process end meanwhile, the housekeeping does the rest.
 *
 * @param onKeyEnded - is told of each key that the tenant had
 * @throws Error when there is no such tenant.
 */
export async function deleteTenant(
  storage: Storage,
  name: string,
  nowMs: number,
  onKeyEnded: (keyId: string) => void,
): Promise<void> {
  const { tenantId, keyIds } = await storage.writeAcross('administer', ({ db }) =>
    hideTenant(db, name, nowMs),
  );
  for (const keyId of keyIds) onKeyEnded(keyId);
  await dropPossessions(storage, tenantId);
}

/**
 * Drops what is left of tenants that were deleted a while ago. What checks go by goes now and no earlier: a check that
 * was still on its way would have found no policy, and the call would have run.
 *
 * @param signal - aborts to have the rest left for another time
 */
export async function dropDeletedTenants(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const hidden = await storage.readAcross('sweep', (db) => tenantsHiddenBefore(db, nowMs - settledAfterMs));
  for (const tenantId of hidden) {
    await dropAll(storage, tenantId, remains, signal);
    await dropPossessions(storage, tenantId, signal);
    await dropAll(storage, tenantId, [tally], signal);
    if (signal?.aborted) return;
    await storage.write(tenantId, ({ db }) => noteEmptied(db, tenantId, nowMs));
  }
}

async function dropPossessions(storage: Storage, tenantId: number, signal?: AbortSignal): Promise<void> {
  await dropAll(storage, tenantId, possessions, signal);
  const everySession = { tenantId, keptFromMs: Number.MAX_SAFE_INTEGER };
  await dropInBatches(
    storage,
    everySession,
    (db, ids) => dropSessions(db, tenantId, ids, Date.now()),
    signal,
  );
}

/** Drops every row of a tenant in some tables. */
async function dropAll(
  storage: Storage,
  tenantId: number,
  tables: readonly KeyedTable[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const ofTenant = sql`tenant_id = ${tenantId}`;
  const drop = async (db: Database): Promise<boolean> => {
    let isMore = false;
    for (const table of tables) isMore = (await dropRows(db, table, ofTenant)) || isMore;
    return isMore;
  };
  await repeat(() => storage.write(tenantId, ({ db }) => drop(db)), signal);
}
