import { sql } from 'kysely';
import { repeat } from '../lib/repeat.ts';
import { lockLog } from '../storage/log/tenant-log.ts';
import { dropRows, dropSessions, type KeyedTable, keyedTable } from '../storage/retention/drop-rows.ts';
import { DeletionPace, dropRest, expiredSessions } from '../storage/retention/prune.ts';
import type { Storage } from '../storage/storage.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';
import { type Database, withinTenant } from '../storage/transaction.ts';
import { requireDeletableTenant } from './protected-records.ts';

/** Time after which no request admitted before the tenant's deletion can be in progress, in milliseconds. */
const settledAfterMs = 3_600_000;

/** Options for a deletion by an operator. */
export interface DeleteOptions {
  /** Reason to erase records before their floor, such as the number of a request. It must not name a person. */
  readonly erasure?: string | undefined;
}

/**
 * Deletes a tenant permanently. Its keys are refused and its name is free at once. Its data is deleted in many small
 * transactions, so that other tenants get their turn. If the process ends meanwhile, cleanup does the rest.
 *
 * @param onKeyEnded - called with the id of each key of the tenant
 * @throws ProtectedRecordsError under a legal hold, or before a floor without an erasure; Error when there is no such
 *   tenant.
 */
export async function deleteTenant(
  storage: Storage,
  name: string,
  nowMs: number,
  onKeyEnded: (keyId: string) => void,
  options: DeleteOptions = {},
): Promise<void> {
  const { tenantId, keyIds } = await storage.writeAcross('administer', ({ db }) =>
    markTenantDeleted(db, name, nowMs, options),
  );
  for (const keyId of keyIds) onKeyEnded(keyId);
  await dropTenantData(storage, tenantId);
}

/**
 * Deletes the remaining data of tenants that were deleted a while ago. Data that checks depend on is deleted only now:
 * a check in progress would have found no policy, and the call would have run.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 * @param deleteElsewhere - deletes what the deployment keeps of a tenant outside the database; repeated until it succeeds
 */
export async function dropDeletedTenants(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
  deleteElsewhere?: (tenantId: number) => Promise<void>,
): Promise<void> {
  const hidden = await storage.readAcross('sweep', (db) => tenantsDeletedBefore(db, nowMs - settledAfterMs));
  for (const tenantId of hidden) {
    await dropAll(storage, tenantId, checkTables, signal);
    await dropTenantData(storage, tenantId, signal);
    await dropAll(storage, tenantId, countTables, signal);
    await deleteElsewhere?.(tenantId);
    if (signal?.aborted) return;
    await storage.write(tenantId, ({ db }) => markTenantEmptied(db, tenantId, nowMs));
  }
}

async function dropTenantData(storage: Storage, tenantId: number, signal?: AbortSignal): Promise<void> {
  await dropAll(storage, tenantId, dataTables, signal);
  const every = { tenantId, keptFromMs: Number.MAX_SAFE_INTEGER };
  const pace = new DeletionPace(storage, signal);
  await repeat(async () => {
    const { rows } = pace;
    const sessions = await storage.read(tenantId, (db) => expiredSessions(db, { ...every, rows }));
    if (sessions.length === 0) return false;
    const ids = sessions.map(({ id }) => id);
    await pace.write(tenantId, async (db) => {
      await dropSessions(db, tenantId, ids, Date.now(), { reason: undefined });
      // Within the transaction, so that no event in between uses a cached session.
      storage.clearSessionCache();
    });
    return true;
  }, signal);
  await dropRest(pace, tenantId, signal);
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
  const pace = new DeletionPace(storage, signal);
  await repeat(() => pace.write(tenantId, drop), signal);
}

/** Tables of a tenant that are emptied together with its sessions; no check depends on them. */
const dataTables: readonly KeyedTable[] = [
  keyedTable('sign_ins', 'id'),
  keyedTable('notification_channels', 'id'),
  keyedTable('deliveries', 'id'),
  keyedTable('people', 'id'),
  keyedTable('push_subscriptions', 'id'),
  keyedTable('alert_rules', 'id'),
  keyedTable('alerts', 'rule_id', 'cause'),
  keyedTable('idempotency_keys', 'endpoint', 'key'),
  keyedTable('agent_baselines', 'agent_id'),
  keyedTable('tool_tag_sets', 'version'),
  keyedTable('risk_judgments', 'id'),
  keyedTable('handled_sessions', 'session_id'),
  keyedTable('session_notes', 'session_id', 'id'),
  keyedTable('forwarded_risk', 'session_id', 'name'),
];

/** Tables of a tenant that checks read, and that a server with cached data of the tenant may still write. */
const checkTables: readonly KeyedTable[] = [
  keyedTable('policies', 'id'),
  keyedTable('policy_versions', 'policy_id', 'version'),
  keyedTable('policy_counts', 'policy_id', 'subject', 'slice_ms'),
  keyedTable('pending_actions', 'id'),
  keyedTable('approval_grants', 'id'),
  keyedTable('checked_actions', 'agent_id', 'action_id'),
  keyedTable('policy_decisions', 'id'),
  keyedTable('audit_log', 'id'),
  keyedTable('log_pending', 'kind', 'id'),
  keyedTable('log_deletions', 'id'),
  keyedTable('log_ranges', 'first_index'),
  keyedTable('log_tiles', 'level', 'tile'),
  keyedTable('log_heads'),
  keyedTable('log_cosigned'),
  keyedTable('log_times', 'minute'),
  keyedTable('legal_holds', 'id'),
  keyedTable('retention_positions', 'name'),
  keyedTable('forward_positions', 'name'),
  keyedTable('call_histories', 'session_id'),
  keyedTable('agent_tools', 'agent_id'),
  keyedTable('agents', 'id'),
  keyedTable('key_agents', 'key_id', 'agent_id'),
  keyedTable('rate_limits', 'subject'),
  keyedTable('tenant_risk'),
];

/** Tables with counts, emptied last: each deleted session is subtracted from the usage, and the last events of a tenant may be scored after its deletion. */
const countTables: readonly KeyedTable[] = [
  keyedTable('usage', 'kind', 'period_ms', 'slot'),
  keyedTable('activity', 'span', 'kind', 'bucket_ms', 'name', 'slot'),
];

/**
 * Deletes a tenant's keys, sign-ins and name, so that it is unreachable and the name is free again. The tenant's row stays,
 * with its number and the time of deletion, because a process with cached data of the tenant may still write it.
 *
 * @throws Error when there is no such tenant.
 */
async function markTenantDeleted(
  db: Database,
  name: string,
  nowMs: number,
  options: DeleteOptions,
): Promise<{ readonly tenantId: number; readonly keyIds: readonly string[] }> {
  const tenantId = await tenantIdOf(db, name);
  // A hold takes the same lock, and then does not find the tenant any more.
  await lockLog(db, tenantId);
  await withinTenant(db, tenantId, 'administer', () => requireDeletableTenant(db, tenantId, name, options));
  // Tenant names have no control characters, so this name cannot collide with one.
  const hidden = { name: `\n${tenantId}`, deleted_ms: nowMs, retention: null, quotas: null };
  await db.updateTable('tenants').set(hidden).where('id', '=', tenantId).execute();
  const keys = await db.deleteFrom('api_keys').where('tenant_id', '=', tenantId).returning('id').execute();
  await db.deleteFrom('sign_ins').where('tenant_id', '=', tenantId).execute();
  return { tenantId, keyIds: keys.map(({ id }) => id) };
}

/** Returns the tenants that were deleted before `beforeMs` and may still have rows. */
async function tenantsDeletedBefore(db: Database, beforeMs: number): Promise<number[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('id')
    .where('deleted_ms', '<', beforeMs)
    .where('emptied_ms', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Marks a deleted tenant of which only the row in `tenants` is left. */
async function markTenantEmptied(db: Database, tenantId: number, nowMs: number): Promise<void> {
  await db.updateTable('tenants').set({ emptied_ms: nowMs }).where('id', '=', tenantId).execute();
}
