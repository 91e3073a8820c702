import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { readQuotas } from '../storage/stores/quota-store.ts';
import type { QuotaName } from '../storage/stores/quota-table.ts';
import type { Database } from '../storage/transaction.ts';
import { QuotaError } from './quota-error.ts';
import { type CountedQuota, leftOf, readRoom } from './room.ts';

/** Counts rows of a tenant, of which there are few. */
type Count = (db: Database, tenantId: number) => Promise<number>;

/**
 * Checks that a quota allows one more row. Other transactions must not add one at the same time.
 *
 * @throws QuotaError 429.
 */
export async function requireRoom(
  db: Database,
  tenantId: number,
  quota: QuotaName,
  count: Count,
  deployment: DeploymentQuotas,
): Promise<void> {
  const { [quota]: max } = await readQuotas(db, tenantId, deployment);
  if (max !== null && (await count(db, tenantId)) >= max) throw new QuotaError({ quota, max }, Date.now());
}

/**
 * Checks that quotas counted by writes allow the amounts; 0 or less always passes. Other transactions must not add any
 * at the same time.
 *
 * @throws QuotaError 429.
 */
export async function requireCountedRoom(
  db: Database,
  tenantId: number,
  amounts: Partial<Readonly<Record<CountedQuota, number>>>,
  nowMs: number,
  deployment: DeploymentQuotas,
): Promise<void> {
  const wanted = Object.entries(amounts).filter(([, amount]) => amount > 0) as [CountedQuota, number][];
  if (wanted.length === 0) return;
  const room = await readRoom(db, tenantId, deployment, nowMs);
  for (const [quota, amount] of wanted) {
    const max = room.quotas[quota];
    if (max !== null && leftOf(room, quota) < amount) throw new QuotaError({ quota, max }, nowMs);
  }
}
