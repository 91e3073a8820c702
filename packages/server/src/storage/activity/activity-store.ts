import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import { bulkInsert } from '../queries/bulk-insert.ts';
import { dropRows, keyedTable } from '../retention/drop-rows.ts';
import { type OldRows, oldRows } from '../retention/old-rows.ts';
import type { Database } from '../transaction.ts';
import type { ActivityChange } from './activity-change.ts';
import type { ActivityNames } from './activity-names.ts';
import type { ActivityCounts } from './activity-schema.ts';
import { activityBuckets, oldestBucket } from './activity-spans.ts';

/**
 * Kind of transaction that counts. Each has rows of its own on PostgreSQL, so that none waits for the commit of
 * another: group commits and scoring have one transaction at a time in a process, requests have many.
 */
export type ActivityWriter = 'events' | 'decisions' | 'scores' | 'requests';

/** Number of rows over which a bucket's counts are spread on PostgreSQL, for each kind of transaction. */
const slots = 64;
const ownSlot = randomInt(slots);

/** Number of slots of requests. */
const requestSlots = 8;

/** The counts, in the order of the columns. */
export const activityCounts = [
  'events',
  'calls',
  'errors',
  'denials',
  'sessions',
  'sessions_low',
  'sessions_medium',
  'sessions_high',
  'sessions_critical',
  'held_actions',
  'decisions_allow',
  'decisions_deny',
  'decisions_require_approval',
] as const satisfies readonly (keyof ActivityCounts)[];

const key = ['tenant_id', 'span', 'kind', 'bucket_ms', 'name', 'slot'] as const;

const none = Object.fromEntries(activityCounts.map((column) => [column, 0])) as unknown as ActivityCounts;

/** Counts of agents and tools; their other counts are 0. */
const namedCounts = ['calls', 'errors', 'denials'] as const satisfies readonly (keyof ActivityCounts)[];

function upsertOf(columns: readonly (keyof ActivityCounts)[]) {
  return bulkInsert('activity', [...key, ...columns], (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(key)
        .doUpdateSet((eb) =>
          Object.fromEntries(
            columns.map((column) => [column, eb(`activity.${column}`, '+', eb.ref(`excluded.${column}`))]),
          ),
        ),
    ),
  );
}

const addRows = upsertOf(activityCounts);
const addNamedRows = upsertOf(namedCounts);

/**
 * Adds what a transaction has stored to a tenant's counts: one upsert for each bucket.
 *
 * @param nowMs - determines which buckets are still counted
 * @param names - limits the names of agents and tools in a bucket; needed if the change has any
 */
export async function addActivity(
  db: Database,
  tenantId: number,
  change: ActivityChange,
  writer: ActivityWriter,
  nowMs: number,
  names?: ActivityNames,
): Promise<void> {
  const slot = isPostgres(db) ? slotOf(writer) : 0;
  const changed = change.rows(nowMs);
  const rows = names ? await names.limit(db, tenantId, slot, changed) : changed;
  const all = rows.map(({ counts, ...row }) => ({ ...none, ...counts, ...row, tenant_id: tenantId, slot }));
  if (isPostgres(db)) {
    await addRows(db, all);
    return;
  }
  // SQLite runs the statement for each row, so fewer parameters cost less; on PostgreSQL another statement would cost
  // another round trip.
  await addRows(
    db,
    all.filter(({ kind }) => kind === 'all'),
  );
  await addNamedRows(
    db,
    all.filter(({ kind }) => kind !== 'all'),
  );
}

function slotOf(writer: ActivityWriter): number {
  switch (writer) {
    case 'events':
      return ownSlot;
    case 'decisions':
      return slots + ownSlot;
    case 'scores':
      return 2 * slots + ownSlot;
    case 'requests':
      return 3 * slots + randomInt(requestSlots);
  }
}

/** Returns the buckets that are too old to be kept. */
export function oldActivity(nowMs: number): OldRows[] {
  return activityBuckets.map((buckets) =>
    oldRows({
      table: 'activity',
      key: [...key],
      age: 'bucket_ms',
      beforeMs: oldestBucket(buckets, nowMs),
      where: sql<boolean>`span = ${buckets.span}`,
    }),
  );
}

const activityTable = keyedTable('activity', ...key);

/**
 * Deletes the buckets of a tenant that end before a time, up to the limit of one transaction.
 *
 * @returns `true` if there can be more.
 */
export async function dropActivityBefore(db: Database, tenantId: number, beforeMs: number): Promise<boolean> {
  // The conditions on the kind let the key find the rows.
  const old = activityBuckets.map(
    ({ span, lengthMs }) =>
      sql`(span = ${span} and kind in ('all', 'agent', 'tool') and bucket_ms <= ${beforeMs - lengthMs})`,
  );
  const { hasMore } = await dropRows(
    db,
    activityTable,
    sql`tenant_id = ${tenantId} and (${sql.join(old, sql` or `)})`,
  );
  return hasMore;
}
