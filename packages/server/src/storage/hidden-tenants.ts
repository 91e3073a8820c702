import { tenantIdOf } from '../keys/provisioning.ts';
import type { KeyedTable } from './drop-rows.ts';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

function keyed<Table extends keyof Tables>(
  table: Table,
  ...key: readonly (keyof Tables[Table] & string)[]
): KeyedTable {
  return { table, key } as unknown as KeyedTable;
}

/**
 * What a tenant has beside its sessions, in the order in which it goes: first keys that were made while it was deleted,
 * and what would still be sent or decided.
 */
export const possessions: readonly KeyedTable[] = [
  keyed('api_keys', 'id'),
  keyed('notification_channels', 'id'),
  keyed('deliveries', 'id'),
  keyed('pending_actions', 'id'),
  keyed('checked_actions', 'agent_id', 'action_id'),
  keyed('idempotency_keys', 'endpoint', 'key'),
  keyed('rate_limits', 'subject'),
  keyed('policy_counts', 'policy_id', 'subject', 'slice_ms'),
  keyed('agents', 'id'),
  keyed('agent_baselines', 'agent_id'),
  keyed('tenant_risk', 'tenant_id'),
  keyed('tool_tag_sets', 'version'),
];

/** What is left of a tenant to the end: its policies, and the counts that every other deletion changes. */
export const remains: readonly KeyedTable[] = [
  keyed('policies', 'id'),
  keyed('usage', 'kind', 'period_ms', 'slot'),
];

/**
 * Takes a tenant's keys and its name, so that nobody reaches it and another can be made of that name. Of its row the
 * number stays, and the moment: a process that still has something of it at hand must be able to write that.
 *
 * @throws Error when there is no such tenant.
 */
export async function hideTenant(
  db: Database,
  name: string,
  nowMs: number,
): Promise<{ readonly tenantId: number; readonly keyIds: readonly string[] }> {
  const tenantId = await tenantIdOf(db, name);
  // A name with a control character is no tenant's, so this one is in nobody's way.
  const hidden = { name: `\n${tenantId}`, deleted_ms: nowMs, retention_days: null, quotas: null };
  await db.updateTable('tenants').set(hidden).where('id', '=', tenantId).execute();
  const keys = await db.deleteFrom('api_keys').where('tenant_id', '=', tenantId).returning('id').execute();
  return { tenantId, keyIds: keys.map(({ id }) => id) };
}

/** The tenants that were deleted before a moment. */
export async function tenantsHiddenBefore(db: Database, beforeMs: number): Promise<number[]> {
  const rows = await db.selectFrom('tenants').select('id').where('deleted_ms', '<', beforeMs).execute();
  return rows.map(({ id }) => id);
}
