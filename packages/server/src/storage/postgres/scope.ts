import { CompiledQuery } from 'kysely';
import type { CrossTenantWork } from '../storage.ts';
import type { Database } from '../transaction.ts';

/** Whose rows a transaction sees: those of one tenant, or what one kind of work across tenants needs. */
export type Scope = number | CrossTenantWork;

/**
 * The statement that puts the rest of the transaction into a scope. The policies of row-level security read these
 * two settings; without either, a transaction sees no row at all.
 *
 * @throws RangeError for a tenant that is no row's.
 */
export function scopeSql(scope: Scope): string {
  if (typeof scope === 'string') {
    return `set local actlog.tenant_id = ''; set local actlog.work = '${scope}'`;
  }
  if (!Number.isSafeInteger(scope)) throw new RangeError(`${scope} is no tenant.`);
  return `set local actlog.tenant_id = '${scope}'; set local actlog.work = ''`;
}

/** Goes over to another scope within an open transaction. */
export async function enterScope(db: Database, scope: Scope): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(scopeSql(scope)));
}
