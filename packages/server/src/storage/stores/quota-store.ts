import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { lockKey, lockNames } from '../locks.ts';
import { bulkWrite, type Database, isPostgres, preparedQuery } from '../transaction.ts';
import {
  monthlyKinds,
  type QuotaName,
  quotaDefinition,
  quotaNames,
  quotaTable,
  type Usage,
  type UsageKind,
  usageKinds,
} from './quota-table.ts';

export type { QuotaName } from './quota-table.ts';

/** Quotas of a tenant; `null` for no limit. */
export type Quotas = Readonly<Record<QuotaName, number | null>>;

/** Quotas of a deployment, for tenants that have none; `null` for no limit. Others keep their defaults. */
export type DeploymentQuotas = Readonly<Partial<Record<QuotaName, number | null | undefined>>>;

/**
 * Changes of a tenant's quotas: a maximum, `null` for no limit, or `default` for the quota of the deployment. Other
 * quotas are unchanged.
 */
export type QuotaChanges = Readonly<Partial<Record<QuotaName, number | null | 'default'>>>;

/** A quota that is used up. */
export interface ExceededQuota {
  readonly quota: QuotaName;
  readonly max: number;
}

const builtIn = Object.fromEntries(
  quotaNames.map((name) => [name, quotaDefinition(name).defaultMax]),
) as Quotas;

const quotasOf = preparedQuery((db, tenantId: number) =>
  db.selectFrom('tenants').select('quotas').where('id', '=', tenantId),
);

/** Returns the quotas that apply to a tenant. */
export async function readQuotas(
  db: Database,
  tenantId: number,
  deployment: DeploymentQuotas,
): Promise<Quotas> {
  return effectiveQuotas(await storedQuotas(db, tenantId), deployment);
}

/** Returns the quotas that apply to a tenant, given the JSON of those that were set for it. */
function effectiveQuotas(ownJson: string | null | undefined, deployment: DeploymentQuotas): Quotas {
  const given = Object.entries(deployment).filter(([, max]) => max !== undefined);
  return { ...builtIn, ...Object.fromEntries(given), ...parsed(ownJson) };
}

/**
 * Changes quotas of a tenant.
 *
 * @throws TypeError for an unknown name; RangeError unless each number is a whole number of at least 0.
 */
export async function changeQuotas(db: Database, tenantId: number, changes: QuotaChanges): Promise<void> {
  for (const [name, max] of Object.entries(changes)) {
    if (!quotaNames.includes(name as QuotaName)) {
      throw new TypeError(`There is no quota "${name}"; the quotas are: ${quotaNames.join(', ')}.`);
    }
    if (max !== null && max !== 'default' && !(Number.isSafeInteger(max) && max >= 0)) {
      throw new RangeError(`The quota "${name}" must be a whole number of at least 0, not ${max}.`);
    }
  }
  // Locked, because the quotas are read, changed and written back.
  await lockNames(db, tenantId, ['quotas']);
  const merged = Object.entries({ ...parsed(await storedQuotas(db, tenantId)), ...changes }).filter(
    ([, max]) => max !== 'default',
  );
  const quotas = merged.length === 0 ? null : JSON.stringify(Object.fromEntries(merged));
  await db.updateTable('tenants').set({ quotas }).where('id', '=', tenantId).execute();
}

async function storedQuotas(db: Database, tenantId: number): Promise<string | null | undefined> {
  const [row] = await quotasOf(db, tenantId);
  return row?.quotas;
}

function parsed(json: string | null | undefined): Partial<Quotas> {
  return json == null ? {} : (JSON.parse(json) as Partial<Quotas>);
}

/**
 * Number of rows over which a tenant's usage is spread on PostgreSQL, so that processes do not wait for each other's
 * commits. The usage is their sum. SQLite has one writer and one row.
 */
const slots = 64;
const ownSlot = randomInt(slots);

const addAmounts = bulkWrite('usage', ['tenant_id', 'kind', 'period_ms', 'slot', 'amount'], (insert) =>
  insert.onConflict((conflict) =>
    conflict
      .columns(['tenant_id', 'kind', 'period_ms', 'slot'])
      .doUpdateSet((eb) => ({ amount: eb('usage.amount', '+', eb.ref('excluded.amount')) })),
  ),
);

/** Returns the start of the calendar month (UTC) that contains `timeMs`, in Unix milliseconds. */
function monthOf(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
}

/** Returns the start of the month after the one that contains `timeMs`, in Unix milliseconds. */
export function nextMonthOf(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
}

/**
 * Adds to a tenant's usage in the month of `nowMs` what a transaction has stored, or subtracts what it has deleted
 * (negative amounts). Transactions other than the group commit use separate rows, because the group commit must not
 * wait until they end.
 */
export async function addUsage(
  db: Database,
  tenantId: number,
  amounts: Partial<Usage>,
  nowMs: number,
  isGroupCommit = false,
): Promise<void> {
  const slot = isPostgres(db) ? (isGroupCommit ? ownSlot : slots + randomInt(slots)) : 0;
  const rows = usageKinds.flatMap((kind) => {
    const { [kind]: amount = 0 } = amounts;
    return amount === 0
      ? []
      : [{ tenant_id: tenantId, kind, period_ms: periodOf(kind, nowMs), slot, amount }];
  });
  await addAmounts(db, rows);
}

/** Returns the usage for stored sums; a missing kind is 0. */
function usageOf(sums: Partial<Usage>): Usage {
  return Object.fromEntries(usageKinds.map((kind) => [kind, Number(sums[kind] ?? 0)])) as Usage;
}

function periodOf(kind: UsageKind, nowMs: number): number {
  return (monthlyKinds as readonly UsageKind[]).includes(kind) ? monthOf(nowMs) : 0;
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
