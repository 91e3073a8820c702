import { randomInt } from 'node:crypto';
import { bulkInsert } from './bulk-insert.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import type { Database } from './transaction.ts';

/** What is counted of a tenant: events by the month, and the sessions that it has. */
export interface Usage {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Rows that a tenant's count is spread over on PostgreSQL, so that processes do not wait for each other's commits.
 * The count is their sum. SQLite has one writer and one row.
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

/** The beginning of a moment's calendar month in UTC, in milliseconds. */
export function monthOf(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
}

/** The beginning of the month after a moment's, in milliseconds. */
export function nextMonthOf(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
}

/**
 * Counts what a transaction has stored, in the month of `nowMs`, or has dropped, as less than 0. Writes that do more
 * than the group commit have rows of their own: they must not hold up the commit while they go on.
 */
export async function addUsage(
  db: Database,
  tenantId: number,
  { events, sessions }: Usage,
  nowMs: number,
  isGroupCommit: boolean,
): Promise<void> {
  const slot = isPostgres(db) ? (isGroupCommit ? ownSlot : slots + randomInt(slots)) : 0;
  const rows = [
    { tenant_id: tenantId, kind: 'events' as const, period_ms: monthOf(nowMs), slot, amount: events },
    { tenant_id: tenantId, kind: 'sessions' as const, period_ms: 0, slot, amount: sessions },
  ];
  await addAmounts(
    db,
    rows.filter(({ amount }) => amount !== 0),
  );
}

/** What a tenant has used in the month of `nowMs`. */
export async function findUsage(db: Database, tenantId: number, nowMs: number): Promise<Usage> {
  const rows = await db
    .selectFrom('usage')
    .select(['kind', 'amount'])
    .where('tenant_id', '=', tenantId)
    .where('period_ms', 'in', [0, monthOf(nowMs)])
    .execute();
  const sum = (wanted: keyof Usage) =>
    rows.reduce((total, { kind, amount }) => (kind === wanted ? total + amount : total), 0);
  return { events: sum('events'), sessions: sum('sessions') };
}
