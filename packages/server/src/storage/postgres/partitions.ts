import { CompiledQuery, sql } from 'kysely';
import { lockNames } from '../locks.ts';
import type { Database } from '../transaction.ts';

/** Number of partitions created ahead of the current month. */
const monthsAhead = 3;

/** Partition with one month of events. */
interface Partition {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the partition of the month that is `months` after the month of `nowMs`. */
function partitionAt(nowMs: number, months: number): Partition {
  const now = new Date(nowMs);
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));
  const to = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
  const month = String(from.getUTCMonth() + 1).padStart(2, '0');
  return { name: `events_${from.getUTCFullYear()}_${month}`, fromMs: from.getTime(), toMs: to };
}

/** Returns the partition with this name, or `undefined` for the default partition. */
function partitionNamed(name: string): Partition | undefined {
  const [, year, month] = /^events_(\d{4,})_(\d{2})$/.exec(name) ?? [];
  return year === undefined ? undefined : partitionAt(Date.UTC(Number(year), Number(month) - 1), 0);
}

/**
 * Creates the partitions of this month and the next ones, and drops empty partitions of past months. An event without a
 * partition for its month goes to the default partition, and is moved when that month's partition is created.
 */
export async function maintainPartitions(db: Database, nowMs: number): Promise<void> {
  const existing = await partitions(db);
  const wanted = Array.from({ length: monthsAhead + 1 }, (_, months) => partitionAt(nowMs, months));
  const missing = wanted.filter(({ name }) => !existing.has(name));
  const outdated = [...existing]
    .flatMap((name) => partitionNamed(name) ?? [])
    .filter(({ toMs }) => toMs < nowMs);
  const empty: Partition[] = [];
  for (const partition of outdated) if (!(await holdsEvents(db, partition))) empty.push(partition);
  if (missing.length === 0 && empty.length === 0) return;
  await lockNames(db, 0, ['partitions']);
  const present = await partitions(db);
  for (const partition of missing) if (!present.has(partition.name)) await createPartition(db, partition);
  for (const partition of empty) if (present.has(partition.name)) await dropIfEmpty(db, partition);
}

async function partitions(db: Database): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class as child on child.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = 'events'::regclass and child.relkind = 'r'
  `.execute(db);
  return new Set(rows.map(({ name }) => name));
}

async function holdsEvents(db: Database, { fromMs, toMs }: Partition): Promise<boolean> {
  const found = await db
    .selectFrom('events')
    .select('tenant_id')
    .where('received_ms', '>=', fromMs)
    .where('received_ms', '<', toMs)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Creates a partition and attaches it. `create table … partition of` would lock the parent table instead. */
async function createPartition(db: Database, { name, fromMs, toMs }: Partition): Promise<void> {
  await run(db, `create table ${name} (like events including all)`);
  await run(db, 'lock table events_default in access exclusive mode');
  await run(
    db,
    `with moved as (delete from events where received_ms >= ${fromMs} and received_ms < ${toMs} returning *) insert into ${name} select * from moved`,
  );
  // A partition has no policies of its own, so a query on the partition itself finds no rows.
  await run(db, `alter table ${name} enable row level security`);
  await run(db, `alter table ${name} force row level security`);
  await run(db, `alter table events attach partition ${name} for values from (${fromMs}) to (${toMs})`);
}

async function dropIfEmpty(db: Database, partition: Partition): Promise<void> {
  await run(db, `lock table ${partition.name} in access exclusive mode`);
  if (!(await holdsEvents(db, partition))) await run(db, `drop table ${partition.name}`);
}

async function run(db: Database, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement));
}
