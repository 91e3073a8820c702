import { randomInt } from 'node:crypto';
import { isPostgres } from '../postgres/postgres-error.ts';
import { bulkInsert } from '../queries/bulk-insert.ts';
import type { Database } from '../transaction.ts';
import { monthlyKinds, type Usage, type UsageKind, usageKinds } from './quota-table.ts';

/**
 * Number of rows over which a tenant's usage is spread on PostgreSQL, so that processes do not wait for each other's
 * commits. The usage is their sum. SQLite has one writer and one row.
 */
const slots = 64;
const ownSlot = randomInt(slots);

const addAmounts = bulkInsert('usage', ['tenant_id', 'kind', 'period_ms', 'slot', 'amount'], (insert) =>
  insert.onConflict((conflict) =>
    conflict
      .columns(['tenant_id', 'kind', 'period_ms', 'slot'])
      .doUpdateSet((eb) => ({ amount: eb('usage.amount', '+', eb.ref('excluded.amount')) })),
  ),
);

/** Returns the start of the calendar month (UTC) that contains `timeMs`, in Unix milliseconds. */
export function monthOf(timeMs: number): number {
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
export function usageOf(sums: Partial<Usage>): Usage {
  return Object.fromEntries(usageKinds.map((kind) => [kind, Number(sums[kind] ?? 0)])) as Usage;
}

function periodOf(kind: UsageKind, nowMs: number): number {
  return (monthlyKinds as readonly UsageKind[]).includes(kind) ? monthOf(nowMs) : 0;
}
