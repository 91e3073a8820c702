import { sql } from 'kysely';
import { lockKey } from '../storage/locks.ts';
import { isPostgres } from '../storage/postgres/is-postgres.ts';
import { preparedQuery } from '../storage/queries/prepared-query.ts';
import { type DeploymentQuotas, effectiveQuotas, type Quotas } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaTable } from '../storage/stores/quota-table.ts';
import type { Usage, UsageKind } from '../storage/stores/usage-kinds.ts';
import { monthOf, usageOf } from '../storage/stores/usage-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Name of a quota whose usage is counted by writes. */
export type CountedQuota = {
  [Name in QuotaName]: (typeof quotaTable)[Name] extends { usage: UsageKind } ? Name : never;
}[QuotaName];

/** Quotas and usage of a tenant in one snapshot. */
export interface Room {
  readonly quotas: Quotas;
  readonly used: Usage;
  /** `true` if this transaction has the requested shared lock; always `true` on SQLite. */
  readonly hasLock: boolean;
}

/** A single query, because every group of events runs it. */
const roomOf = preparedQuery((db, tenantId: number, monthMs: number, sharedLockKey: string) => {
  const postgres = isPostgres(db);
  const counts = db
    .selectFrom('usage')
    .select((eb) => ['kind', eb.fn.sum<number>('amount').as('total')])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('period_ms', '=', 0), eb('period_ms', '=', monthMs)]))
    .groupBy('kind');
  const used = postgres ? sql`json_object_agg(kind, total)::text` : sql`json_group_object(kind, total)`;
  const hasLock = postgres
    ? sql<boolean>`(${sharedLockKey}::text = '' or pg_try_advisory_xact_lock_shared(nullif(${sharedLockKey}::text, '')::bigint))`
    : sql<boolean>`${sharedLockKey} is not null`;
  return db
    .selectFrom('tenants')
    .select((eb) => [
      'quotas',
      eb.selectFrom(counts.as('counts')).select(used.$castTo<string | null>().as('used')).as('used'),
      hasLock.as('hasLock'),
    ])
    .where('id', '=', tenantId);
});

/**
 * Reads the quotas of a tenant and its usage in the month of `nowMs`.
 *
 * @param sharedLock - name of a lock to acquire as shared, unless another transaction has it exclusively
 */
export async function readRoom(
  db: Database,
  tenantId: number,
  deployment: DeploymentQuotas,
  nowMs: number,
  sharedLock?: string,
): Promise<Room> {
  const key = sharedLock === undefined ? '' : lockKey(tenantId, sharedLock);
  const [row] = await roomOf(db, tenantId, monthOf(nowMs), key);
  const sums = row?.used == null ? {} : (JSON.parse(row.used) as Partial<Usage>);
  return {
    quotas: effectiveQuotas(row?.quotas, deployment),
    used: usageOf(sums),
    hasLock: Boolean(row?.hasLock),
  };
}

/** Returns the remaining room in a quota; infinite without a limit. */
export function leftOf({ quotas, used }: Room, name: CountedQuota): number {
  const max = quotas[name];
  return max === null ? Number.POSITIVE_INFINITY : max - used[quotaTable[name].usage];
}
