import { sql } from 'kysely';
import { ApiError } from '../lib/api-error.ts';
import { lockKey } from '../storage/locks.ts';
import { isPostgres } from '../storage/postgres/postgres-error.ts';
import { preparedQuery } from '../storage/queries/prepared-query.ts';
import {
  type DeploymentQuotas,
  type ExceededQuota,
  effectiveQuotas,
  type Quotas,
  readQuotas,
} from '../storage/stores/quota-store.ts';
import {
  type QuotaName,
  quotaDefinition,
  quotaTable,
  type Usage,
  type UsageKind,
} from '../storage/stores/quota-table.ts';
import { monthOf, nextMonthOf, usageOf } from '../storage/stores/usage-store.ts';
import type { Database } from '../storage/transaction.ts';

/** `Retry-After` in seconds for quotas that only a person or retention can free. */
const retryAfterSeconds = 3600;

/** Error thrown when a quota of the tenant is used up. Nothing of the request was stored. */
export class QuotaError extends ApiError {
  readonly quota: QuotaName;

  constructor({ quota, max }: ExceededQuota, nowMs: number) {
    const { unit, remedy, path } = quotaDefinition(quota);
    const message = [
      `The quota ${quota} of the tenant, ${max} ${unit}, is used up.`,
      ...(remedy === '' ? [] : [remedy]),
      'The operator of the service can raise it.',
    ].join(' ');
    super('RATE_LIMITED', message, {
      details: [{ path, code: 'quota_exceeded', message: `exceeds the quota ${quota} of ${max}` }],
      retryAfterSeconds: quota.endsWith('PerMonth') ? (nextMonthOf(nowMs) - nowMs) / 1000 : retryAfterSeconds,
    });
    this.quota = quota;
  }
}

/** Error thrown when a policy exceeds the tenant's remaining budget. It was not stored. */
export class PolicyCostError extends ApiError {
  readonly quota: QuotaName = 'policyCost';

  /** @param problem - cost of the policy, remaining budget, and remedy */
  constructor(problem: string) {
    super('RATE_LIMITED', problem, {
      details: [{ path: '', code: 'quota_exceeded', message: 'exceeds the quota policyCost' }],
      retryAfterSeconds,
    });
  }
}

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
