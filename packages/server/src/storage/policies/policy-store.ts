import type { PolicyDefinition } from '@actlog/policy';
import type { Selectable } from 'kysely';
import { querySliceWithin, type Slice } from '../slices.ts';
import { notify } from '../storage.ts';
import type { Database } from '../transaction.ts';
import type { PolicyTable, PolicyVersionTable } from './policy-schema.ts';

/** A stored policy. */
export interface StoredPolicy extends Omit<Selectable<PolicyTable>, 'definition' | 'tenant_id'> {
  readonly definition: PolicyDefinition;
}

function storedPolicy({ definition, tenant_id: _, ...row }: Selectable<PolicyTable>): StoredPolicy {
  const stored = JSON.parse(definition) as Omit<PolicyDefinition, 'schedule'>;
  // Policies of earlier releases have no schedule.
  return { ...row, definition: { schedule: null, ...stored } };
}

/** Returns a policy, or `undefined` if there is none. */
export async function findPolicy(
  db: Database,
  tenantId: number,
  id: string,
): Promise<StoredPolicy | undefined> {
  const row = await db
    .selectFrom('policies')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && storedPolicy(row);
}

/** Returns the policies of a tenant with these ids. */
export async function findPolicies(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<StoredPolicy[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('policies')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', ids)
    .execute();
  return rows.map(storedPolicy);
}

/** Returns the fields that show whether a cached policy is current, for each active policy. An index covers them. */
export function activePolicyVersions(
  db: Database,
  tenantId: number,
  limit: number,
): Promise<Pick<StoredPolicy, 'id' | 'version' | 'updated_ms'>[]> {
  return db
    .selectFrom('policies')
    .select(['id', 'version', 'updated_ms'])
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'active')
    .limit(limit)
    .execute();
}

/** Returns a slice of the policies, newest first. It has fewer than `limit` rows when policies are large. */
export async function listPolicies(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly status?: 'active' | 'archived' | undefined;
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<Slice<StoredPolicy>> {
  const { after, status } = options;
  let query = db.selectFrom('policies').selectAll().where('tenant_id', '=', options.tenantId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'id'), '<', tuple(after.createdMs, after.id)),
    );
  }
  if (status !== undefined) query = query.where('status', '=', status);
  const ordered = query.orderBy('created_ms', 'desc').orderBy('id', 'desc');
  const { rows, hasMore } = await querySliceWithin(options.limit, ['definition'], ordered);
  return { rows: rows.map(storedPolicy), hasMore };
}

/** Returns the number of active policies of a tenant. */
export function countActivePolicies(db: Database, tenantId: number): Promise<number> {
  return countOf(ofTenant(db, tenantId).where('status', '=', 'active'));
}

/** Returns the number of policies of a tenant, archived ones included. */
export function countPolicies(db: Database, tenantId: number): Promise<number> {
  return countOf(ofTenant(db, tenantId));
}

function ofTenant(db: Database, tenantId: number) {
  return db.selectFrom('policies').where('tenant_id', '=', tenantId);
}

async function countOf(policies: ReturnType<typeof ofTenant>): Promise<number> {
  const { count } = await policies
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Inserts or replaces a policy, and invalidates the copies that processes have cached. */
export async function savePolicy(db: Database, tenantId: number, policy: StoredPolicy): Promise<void> {
  const row = { ...policy, tenant_id: tenantId, definition: JSON.stringify(policy.definition) };
  const { tenant_id: _tenant, id: _id, created_ms: _created, ...changes } = row;
  await db
    .insertInto('policies')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doUpdateSet(changes))
    .execute();
  await db
    .insertInto('policy_versions')
    .values({
      tenant_id: tenantId,
      policy_id: policy.id,
      version: policy.version,
      status: policy.status,
      definition: row.definition,
      from_ms: policy.updated_ms,
    })
    .execute();
  await raiseSettingsVersion(db, tenantId);
}

/** Returns all versions of a tenant's policies, oldest first for each policy. */
export function policyVersions(db: Database, tenantId: number): Promise<Selectable<PolicyVersionTable>[]> {
  return db
    .selectFrom('policy_versions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('policy_id')
    .orderBy('version')
    .execute();
}

/** Invalidates the tenant's policies and webhooks that processes have cached, and wakes waiting requests. */
export async function raiseSettingsVersion(db: Database, tenantId: number): Promise<void> {
  await db
    .updateTable('tenants')
    .set((eb) => ({ settings_version: eb('settings_version', '+', 1) }))
    .where('id', '=', tenantId)
    .execute();
  await notify(db, '');
}

/** Returns the version of the tenant's policies and webhooks. */
export async function settingsVersion(db: Database, tenantId: number): Promise<number> {
  const { settings_version: version } = await db
    .selectFrom('tenants')
    .select('settings_version')
    .where('id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return version;
}
