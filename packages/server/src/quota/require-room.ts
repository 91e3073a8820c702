import type { Database } from '../storage/transaction.ts';
import { type QuotaName, readQuotas } from './quota.ts';
import { QuotaError } from './quota-error.ts';

/**
 * Refuses one more of what `count` counts when the tenant's quota has no room. Call it where no other transaction
 * adds one meanwhile.
 *
 * @throws QuotaError 429.
 */
export async function requireRoom(
  db: Database,
  tenantId: number,
  quota: QuotaName,
  count: (db: Database, tenantId: number) => Promise<number>,
): Promise<void> {
  const { [quota]: max } = await readQuotas(db, tenantId);
  if (max !== undefined && (await count(db, tenantId)) >= max)
    throw new QuotaError({ quota, max }, Date.now());
}
