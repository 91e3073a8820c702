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
 * Applies missing migrations on a separate connection without timeouts: another server may be migrating, and a large
 * table takes time.
 *
 * @param onProgress - called with each slow step
 * @throws Error when the database cannot be reached, is behind a pooler that pools by transaction, was written by a
 *   newer release, cannot store every text, does not isolate tenants, or does not sync its commits.
 */
export async function prepareDatabase(url: string, onProgress: Progress): Promise<void> {
  await checkPooling(url);
  const pool = new PostgresPool({ url, connections: 1, waitsIndefinitely: true });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await database.connection().execute(checkRole);
    await database.connection().execute(checkEncoding);
    await database.connection().execute(checkDurability);
    await inTransaction(database, 'write', 'migrate', async (db) => {
      await db.executeQuery(CompiledQuery.raw('set local lock_timeout = 0; set local statement_timeout = 0'));
      await lockWithRetries(
        db,
        () => lockNames(db, 0, ['migrations']),
        () => onProgress('waiting for another server that is migrating the tables'),
      );
      await migrate(db, postgresMigrations, onProgress);
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
