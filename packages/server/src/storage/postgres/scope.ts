import { CompiledQuery } from 'kysely';
import type { CrossTenantWork } from '../storage.ts';
import type { Database } from '../transaction.ts';

/** Rows visible to a transaction: those of one tenant, or those that one kind of cross-tenant work needs. */
export type Scope = number | CrossTenantWork;

/**
 * Returns the statement that sets the scope for the rest of the transaction. The row-level security policies read these
 * two settings; without them, a transaction sees no rows.
 *
 * @throws RangeError for an invalid tenant id.
 */
export function scopeSql(scope: Scope): string {
  if (typeof scope === 'string') {
    return `set local actlog.tenant_id = ''; set local actlog.work = '${scope}'`;
  }
  if (!Number.isSafeInteger(scope)) throw new RangeError(`${scope} is not a tenant id.`);
  return `set local actlog.tenant_id = '${scope}'; set local actlog.work = ''`;
}

/** Changes the scope of an open transaction. */
export async function enterScope(db: Database, scope: Scope): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(scopeSql(scope)));
}
