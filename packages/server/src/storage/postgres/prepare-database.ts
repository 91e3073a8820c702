import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { lockNames } from '../locks.ts';
import { migrate, type Progress } from '../migrate.ts';
import { postgresMigrations } from '../migrations/postgres.ts';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';
import { clientConfig, PostgresPool } from './pool.ts';
import { connectError, postgresError } from './postgres-error.ts';
import { inTransaction, lockWithRetries } from './transactions.ts';

/**
 * Applies missing migrations and creates partitions, on a separate connection without timeouts: another server may be
 * migrating, and a large table takes time.
 *
 * @param mayPostpone - returns `true` for an error after which partitions can be created later
 * @param onProgress - called with each slow step
 * @throws Error when the database cannot be reached, is behind a pooler that pools by transaction, was written by a
 *   newer release, cannot store every text, does not isolate tenants, or does not sync its commits.
 */
export async function prepareDatabase(
  url: string,
  mayPostpone: (error: unknown) => boolean,
  onProgress: Progress,
): Promise<void> {
  await checkPooling(url);
  const pool = new PostgresPool({ url, connections: 1, waitsIndefinitely: true });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await database.connection().execute(checkRole);
    await database.connection().execute(checkEncoding);
    await database.connection().execute(checkDurability);
    await inTransaction(database, 'write', 'partition', async (db) => {
      await db.executeQuery(CompiledQuery.raw('set local lock_timeout = 0; set local statement_timeout = 0'));
      await lockWithRetries(
        db,
        () => lockNames(db, 0, ['migrations']),
        () => onProgress('waiting for another server that is migrating the tables'),
      );
      await migrate(db, postgresMigrations, onProgress);
    });
    await inTransaction(database, 'write', 'partition', async (db) => {
      // The lock timeout stays: while this transaction waits to lock the events, everything that reads them waits too.
      await db.executeQuery(CompiledQuery.raw('set local statement_timeout = 0'));
      await maintainPartitions(db, Date.now());
    }).catch((error: unknown) => {
      if (!mayPostpone(error)) throw error;
    });
  } finally {
    await database.destroy();
    // Kysely closes the pool only if it was used.
    await pool.end().catch(() => {});
  }
}

/**
 * Checks that committed data survives a crash, because an event is acknowledged when its commit returns.
 *
 * @throws Error when commits do not wait for the disk.
 */
async function checkDurability(db: Database): Promise<void> {
  const { rows } = await sql<{ setting: string }>`
    select current_setting('synchronous_commit') as setting
  `.execute(db);
  if (rows[0]?.setting !== 'off') return;
  throw new Error(
    'The database has synchronous_commit off for this role, so a crash could lose acknowledged events. Turn it on where it is off, such as for the role: alter role actlog set synchronous_commit = on;',
  );
}

/**
 * Checks that the database isolates tenants, too.
 *
 * @throws Error when the role bypasses row-level security.
 */
async function checkRole(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; bypassesRls: boolean }>`
    select rolname as name, rolsuper or rolbypassrls as "bypassesRls" from pg_roles where rolname = current_user
  `.execute(db);
  if (rows[0]?.bypassesRls !== true) return;
  throw new Error(
    `The role "${rows[0].name}" bypasses row-level security, which isolates tenants. Create a separate role for the server: create role actlog login password '…'; create database actlog owner actlog;`,
  );
}

/** Encodings that can store any text. `SQL_ASCII` stores bytes unchanged. */
const supportedEncodings = ['UTF8', 'SQL_ASCII'];

/**
 * Checks that the database can store any text.
 *
 * @throws Error when its encoding lacks characters.
 */
async function checkEncoding(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select getdatabaseencoding() as encoding`.execute(db);
  const { encoding } = rows[0] as { encoding: string };
  if (supportedEncodings.includes(encoding)) return;
  throw new Error(
    `The database has the encoding "${encoding}", which cannot store every text. Create a database with UTF8, and restore a pg_dump of this one into it: create database actlog owner actlog encoding 'UTF8' locale 'C' template template0;`,
  );
}

/** Number of probes. One is not enough, because other servers may use the same pooler at the same moment. */
const probes = 5;

/** Query timeout of the second connection, in milliseconds. A pooler may have no connection left for it. */
const secondConnectionMs = 5000;

/**
 * Checks that a connection keeps its PostgreSQL session for as long as it is open. Behind a pooler that pools by
 * transaction, the server would miss notifications and run into prepared statements of other servers.
 *
 * @throws Error when a pooler pools by transaction.
 */
async function checkPooling(url: string): Promise<void> {
  const first = await connected(url, 0);
  try {
    const pid = await processOf(first);
    // A pooler reports a made-up process id to the client, so an equal one means a direct connection.
    if (pid === (first as pg.Client & { processID: number | null }).processID) return;
    if (await isShared(url, first, pid)) throw new Error(transactionPoolingMessage);
  } catch (error) {
    throw postgresError(error);
  } finally {
    await first.end().catch(() => {});
  }
}

const transactionPoolingMessage =
  "The address of the database leads to a pooler in transaction mode, with which the server would miss other servers' decisions. Set it to session mode (PgBouncer: pool_mode = session), or use the address of PostgreSQL itself.";

/** `true` if a second connection, in a transaction, gets the process of the first or displaces the first from it. */
async function isShared(url: string, first: pg.Client, pid: number): Promise<boolean> {
  const second = await connected(url, secondConnectionMs);
  try {
    for (let probe = 0; probe < probes; probe += 1) {
      await second.query('begin');
      if ((await processOf(second)) === pid || (await processOf(first)) !== pid) return true;
      await second.query('rollback');
    }
    return false;
  } catch (error) {
    const { severity } = error as { severity?: string };
    if (severity !== undefined) throw error;
    // A pooler that makes the second connection wait has left the first one where it was.
    return false;
  } finally {
    await second.end().catch(() => {});
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return (rows[0] as { pid: number }).pid;
}

async function connected(url: string, queryTimeoutMs: number): Promise<pg.Client> {
  try {
    const client = new pg.Client({ ...clientConfig(url), query_timeout: queryTimeoutMs });
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    throw connectError(error);
  }
}

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
