import { lockRows } from '../locks.ts';
import type { Database } from '../transaction.ts';

/** Returns the tenant with a name, or `undefined`. @throws TypeError unless the name is a string. */
export async function tenantNamed(db: Database, name: string): Promise<{ id: number } | undefined> {
  if (typeof name !== 'string') {
    throw new TypeError(`A tenant must be given by its name, a string, not ${typeof name}.`);
  }
  return db
    .selectFrom('tenants')
    .select('id')
    .where('name', '=', name)
    .where('deleted_ms', 'is', null)
    .executeTakeFirst();
}

/** Returns the id of a tenant. @throws Error when there is none. */
export async function tenantIdOf(db: Database, name: string): Promise<number> {
  const row = await tenantNamed(db, name);
  if (!row)
    throw new Error(`There is no tenant "${name}"; create it with its first key or with createTenant.`);
  return row.id;
}

/** Prevents the deletion of a tenant until the transaction ends. @throws Error when it is already deleted. */
export async function requireTenant(db: Database, tenantId: number): Promise<void> {
  const tenant = db
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .where('deleted_ms', 'is', null);
  const row = await lockRows(db, tenant).executeTakeFirst();
  if (!row) throw new Error('The tenant was deleted.');
}
