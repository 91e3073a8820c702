import type { SentOf } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { notify } from './notification.ts';
import type { PolicyTable } from './policy-schema.ts';
import { type Slice, sliceOf } from './slice.ts';
import type { Database } from './transaction.ts';

/** What a caller writes of a policy, with the defaults filled in. */
export type PolicyDefinition = Omit<
  SentOf<'policies.get'>,
  'id' | 'status' | 'createdAt' | 'updatedAt' | 'archivedAt' | 'version'
>;

/** A stored policy. */
export interface StoredPolicy extends Omit<Selectable<PolicyTable>, 'definition' | 'tenant_id'> {
  readonly definition: PolicyDefinition;
}

function storedPolicy({ definition, tenant_id: _, ...row }: Selectable<PolicyTable>): StoredPolicy {
  return { ...row, definition: JSON.parse(definition) as PolicyDefinition };
}

/** One policy, or undefined. */
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

/** A slice of the policies, the newest first. */
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
  return sliceOf(options.limit, async (limit) => (await ordered.limit(limit).execute()).map(storedPolicy));
}

/** How many policies a tenant has that are not archived. */
export async function countActivePolicies(db: Database, tenantId: number): Promise<number> {
  const { count } = await db
    .selectFrom('policies')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Writes a policy whole, and tells all processes that their copies are old. */
export async function savePolicy(db: Database, tenantId: number, policy: StoredPolicy): Promise<void> {
  const row = { ...policy, tenant_id: tenantId, definition: JSON.stringify(policy.definition) };
  const { tenant_id: _tenant, id: _id, created_ms: _created, ...changes } = row;
  await db
    .insertInto('policies')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doUpdateSet(changes))
    .execute();
  await raiseSettingsVersion(db, tenantId);
}

/** Tells all processes that their copies of the tenant's policies and channels are old, and who waits to look again. */
export async function raiseSettingsVersion(db: Database, tenantId: number): Promise<void> {
  await db
    .updateTable('tenants')
    .set((eb) => ({ settings_version: eb('settings_version', '+', 1) }))
    .where('id', '=', tenantId)
    .execute();
  await notify(db, '');
}

/** The version of the tenant's policies and channels. */
export async function settingsVersion(db: Database, tenantId: number): Promise<number> {
  const { settings_version: version } = await db
    .selectFrom('tenants')
    .select('settings_version')
    .where('id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return version;
}
