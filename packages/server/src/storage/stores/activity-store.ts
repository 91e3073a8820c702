import { type RawBuilder, sql } from 'kysely';
import { dropRows, keyedTable, type OldRows, oldRows } from '../retention/drop-rows.ts';
import {
  type ActivityCounts,
  type ActivityKind,
  type ActivitySpan,
  activityCounts,
  activityKey,
} from '../tables.ts';
import type { Database } from '../transaction.ts';
import { activityBuckets, bucketOf, bucketsOf, oldestBucket } from './activity-change.ts';

const [, ...key] = activityKey;

/** Returns the buckets that are too old to be kept. */
export function oldActivity(nowMs: number): OldRows[] {
  return activityBuckets.map((buckets) =>
    oldRows({
      table: 'activity',
      key,
      age: 'bucket_ms',
      beforeMs: oldestBucket(buckets, nowMs),
      where: sql<boolean>`span = ${buckets.span}`,
    }),
  );
}

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
  const condition = sql`tenant_id = ${tenantId} and (${sql.join(old, sql` or `)})`;
  return (await dropRows(db, keyedTable('activity', ...key), condition)).hasMore;
}

/** Consecutive buckets of a tenant. Their start and end must be those of buckets. */
interface ActivityRange {
  readonly tenantId: number;
  readonly span: ActivitySpan;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Counts of one bucket. */
export interface ActivityOfBucket extends ActivityCounts {
  readonly bucket_ms: number;
}

/** Returns the counts of the buckets that have any, oldest first. */
export async function activitySeries(
  db: Database,
  { tenantId, span, sinceMs, untilMs }: ActivityRange,
): Promise<ActivityOfBucket[]> {
  const rows = await db
    .selectFrom('activity')
    .select(['bucket_ms', ...activityCounts.map((column) => sumOf(column).as(column))])
    .where('tenant_id', '=', tenantId)
    .where('span', '=', span)
    .where('kind', '=', 'all')
    .where('bucket_ms', '>=', sinceMs)
    .where('bucket_ms', '<', untilMs)
    .groupBy('bucket_ms')
    .orderBy('bucket_ms')
    .execute();
  // PostgreSQL returns sums as text.
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, Number(value)])),
  ) as unknown as ActivityOfBucket[];
}

const namedCounts = ['calls', 'errors', 'denials'] as const satisfies readonly (keyof ActivityCounts)[];

/** Tool calls of an agent or a tool. */
interface ActivityOfName extends Pick<ActivityCounts, 'calls' | 'errors' | 'denials'> {
  readonly name: string;
}

/** Tool calls of an agent or a tool in one bucket. */
interface ActivityOfDay extends Pick<ActivityCounts, 'calls' | 'errors' | 'denials'> {
  readonly bucket_ms: number;
}

/** Returns the counts of one agent or tool in the buckets that have any, oldest first. */
export async function activityOfName(
  db: Database,
  kind: Exclude<ActivityKind, 'all'>,
  name: string,
  { tenantId, span, sinceMs, untilMs }: ActivityRange,
): Promise<ActivityOfDay[]> {
  const rows = await db
    .selectFrom('activity')
    .select(['bucket_ms', ...namedCounts.map((column) => sumOf(column).as(column))])
    .where('tenant_id', '=', tenantId)
    .where('span', '=', span)
    .where('kind', '=', kind)
    .where('bucket_ms', '>=', sinceMs)
    .where('bucket_ms', '<', untilMs)
    .where('name', '=', name)
    .groupBy('bucket_ms')
    .orderBy('bucket_ms')
    .execute();
  return rows.map((row) => ({
    bucket_ms: Number(row.bucket_ms),
    calls: Number(row.calls),
    errors: Number(row.errors),
    denials: Number(row.denials),
  }));
}

/** Returns the agents or tools with the most errors and denials, then those with the most calls. */
export async function activityByName(
  db: Database,
  kind: Exclude<ActivityKind, 'all'>,
  range: ActivityRange,
  limit: number,
): Promise<ActivityOfName[]> {
  return namesOf(db, kind, range, limit, sql`sum(errors + denials) desc, sum(calls) desc`);
}

/**
 * Returns the agents or tools with the most calls, and the calls of the others: of those beyond the names that each bucket
 * counts. They have the empty name.
 */
export async function activityByCalls(
  db: Database,
  kind: Exclude<ActivityKind, 'all'>,
  range: ActivityRange,
  limit: number,
): Promise<{ readonly names: ActivityOfName[]; readonly others: Omit<ActivityOfName, 'name'> }> {
  const all = await namesOf(db, kind, range, limit + 1, sql`name = '' desc, sum(calls) desc`, true);
  const { calls = 0, errors = 0, denials = 0 } = all.find(({ name }) => name === '') ?? {};
  const names = all.filter(({ name }) => name !== '').slice(0, limit);
  return { names, others: { calls, errors, denials } };
}

async function namesOf(
  db: Database,
  kind: Exclude<ActivityKind, 'all'>,
  range: ActivityRange,
  limit: number,
  order: RawBuilder<unknown>,
  withOthers = false,
): Promise<ActivityOfName[]> {
  const named = withOthers ? sql`` : sql`and name <> ''`;
  const parts = namedRanges(range).map(
    ({ tenantId, span, sinceMs, untilMs }) => sql`
      select name, calls, errors, denials from activity
      where tenant_id = ${tenantId} and span = ${span} and kind = ${kind}
        and bucket_ms >= ${sinceMs} and bucket_ms < ${untilMs} ${named}`,
  );
  const sums = namedCounts.map((column) => sumOf(column).as(column));
  const { rows } = await sql<ActivityOfName>`
    select name, ${sql.join(sums)} from (${sql.join(parts, sql` union all `)}) as part
    group by name order by ${order}, name limit ${limit}
  `.execute(db);
  return rows.map((row) => ({
    name: row.name,
    calls: Number(row.calls),
    errors: Number(row.errors),
    denials: Number(row.denials),
  }));
}

function sumOf(column: keyof ActivityCounts): RawBuilder<number> {
  return sql<number>`sum(${sql.ref(column)})`;
}

/** Divides a range into whole days and the hours before and after them, to read as few rows as possible. */
function namedRanges(range: ActivityRange): ActivityRange[] {
  const [hours, days] = [bucketsOf('hour'), bucketsOf('day')];
  const sinceMs = bucketOf(hours, range.sinceMs);
  const untilMs = bucketOf(hours, range.untilMs - 1) + hours.lengthMs;
  const firstDayMs = bucketOf(days, sinceMs - 1) + days.lengthMs;
  const endOfDaysMs = bucketOf(days, untilMs);
  if (firstDayMs >= endOfDaysMs) return [{ ...range, span: 'hour', sinceMs, untilMs }];
  const parts: ActivityRange[] = [
    { ...range, span: 'hour', sinceMs, untilMs: firstDayMs },
    { ...range, span: 'day', sinceMs: firstDayMs, untilMs: endOfDaysMs },
    { ...range, span: 'hour', sinceMs: endOfDaysMs, untilMs },
  ];
  return parts.filter((part) => part.sinceMs < part.untilMs);
}
