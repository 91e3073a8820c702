import { type KeyedTable, keyedTable } from './retention/drop-rows.ts';
import { tenantIdOf } from './stores/tenant-store.ts';
import type { Database } from './transaction.ts';

/** Tables of a tenant that are emptied together with its sessions; no check depends on them. */
export const dataTables: readonly KeyedTable[] = [
  keyedTable('sign_ins', 'id'),
  keyedTable('notification_channels', 'id'),
  keyedTable('deliveries', 'id'),
  keyedTable('idempotency_keys', 'endpoint', 'key'),
  keyedTable('agent_baselines', 'agent_id'),
  keyedTable('tool_tag_sets', 'version'),
  keyedTable('risk_judgments', 'id'),
  keyedTable('handled_sessions', 'session_id'),
];

/** Tables of a tenant that checks read, and that a server with cached data of the tenant may still write. */
export const checkTables: readonly KeyedTable[] = [
  keyedTable('policies', 'id'),
  keyedTable('policy_counts', 'policy_id', 'subject', 'slice_ms'),
  keyedTable('pending_actions', 'id'),
  keyedTable('approval_grants', 'id'),
  keyedTable('checked_actions', 'agent_id', 'action_id'),
  keyedTable('policy_decisions', 'id'),
  keyedTable('audit_log', 'id'),
  keyedTable('call_histories', 'session_id'),
  keyedTable('agent_tools', 'agent_id'),
  keyedTable('agents', 'id'),
  keyedTable('key_agents', 'key_id', 'agent_id'),
  keyedTable('rate_limits', 'subject'),
  keyedTable('tenant_risk', 'tenant_id'),
];

/** Tables with counts, emptied last: each deleted session is subtracted from the usage, and the last events of a tenant may be scored after its deletion. */
export const countTables: readonly KeyedTable[] = [
  keyedTable('usage', 'kind', 'period_ms', 'slot'),
  keyedTable('activity', 'span', 'kind', 'bucket_ms', 'name', 'slot'),
];

/**
 * Deletes a tenant's keys, sign-ins and name, so that it is unreachable and the name is free again. The tenant's row stays,
 * with its number and the time of deletion, because a process with cached data of the tenant may still write it.
 *
 * @throws Error when there is no such tenant.
 */
export async function markTenantDeleted(
  db: Database,
  name: string,
  nowMs: number,
): Promise<{ readonly tenantId: number; readonly keyIds: readonly string[] }> {
  const tenantId = await tenantIdOf(db, name);
  // Tenant names have no control characters, so this name cannot collide with one.
  const hidden = { name: `\n${tenantId}`, deleted_ms: nowMs, retention_days: null, quotas: null };
  await db.updateTable('tenants').set(hidden).where('id', '=', tenantId).execute();
  const keys = await db.deleteFrom('api_keys').where('tenant_id', '=', tenantId).returning('id').execute();
  await db.deleteFrom('sign_ins').where('tenant_id', '=', tenantId).execute();
  return { tenantId, keyIds: keys.map(({ id }) => id) };
}

/** Returns the tenants that were deleted before `beforeMs` and may still have rows. */
export async function tenantsDeletedBefore(db: Database, beforeMs: number): Promise<number[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('id')
    .where('deleted_ms', '<', beforeMs)
    .where('emptied_ms', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Marks a deleted tenant as having no rows left but its own. */
export async function markTenantEmptied(db: Database, tenantId: number, nowMs: number): Promise<void> {
  await db.updateTable('tenants').set({ emptied_ms: nowMs }).where('id', '=', tenantId).execute();
}
