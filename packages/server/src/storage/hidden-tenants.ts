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

/** What of a tenant goes at once beside its sessions: no answer to a check depends on it. */
export const possessions: readonly KeyedTable[] = [
  keyed('notification_channels', 'id'),
  keyed('deliveries', 'id'),
  keyed('idempotency_keys', 'endpoint', 'key'),
  keyed('agent_baselines', 'agent_id'),
  keyed('tool_tag_sets', 'version'),
];

/** What of a tenant checks go by, and what a server may write that has something of it at hand still. */
export const remains: readonly KeyedTable[] = [
  keyed('policies', 'id'),
  keyed('policy_counts', 'policy_id', 'subject', 'slice_ms'),
  keyed('pending_actions', 'id'),
  keyed('checked_actions', 'agent_id', 'action_id'),
  keyed('agents', 'id'),
  keyed('rate_limits', 'subject'),
  keyed('tenant_risk', 'tenant_id'),
];

/** What every session that goes is taken from. */
export const tally: KeyedTable = keyed('usage', 'kind', 'period_ms', 'slot');

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

/** The tenants that were deleted before a moment, and of which something may be left. */
export async function tenantsHiddenBefore(db: Database, beforeMs: number): Promise<number[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('id')
    .where('deleted_ms', '<', beforeMs)
    .where('emptied_ms', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Says that nothing of a deleted tenant is left but its row. */
export async function noteEmptied(db: Database, tenantId: number, nowMs: number): Promise<void> {
  await db.updateTable('tenants').set({ emptied_ms: nowMs }).where('id', '=', tenantId).execute();
}
