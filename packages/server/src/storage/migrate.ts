import { CompiledQuery, sql } from 'kysely';
import { lockWithRetries } from './postgres/transactions.ts';
import { type Database, isPostgres } from './transaction.ts';

/** A change of the tables from one version to the next. */
export interface Migration {
  /** Name of the migration; sorts after all earlier names. */
  readonly name: string;
  up(db: Database): Promise<void>;
}

/**
 * Applies the missing migrations. The transaction excludes all others, so of several servers that start at once one
 * applies them and the others find them applied.
 *
 * @param onProgress - called for each migration of existing tables, which can take a while on a large database
 * @throws Error when the database was written by a newer release.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
  onProgress: Progress,
): Promise<void> {
  const applied = await appliedMigrations(db);
  const unknown = [...applied].find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined) {
    throw new Error(
      `The database was written by a newer release (it has the migration "${unknown}"). Start that release, or restore a backup.`,
    );
  }
  const missing = migrations.filter(({ name }) => !applied.has(name));
  const isUpgrade = applied.size > 0 && missing.length > 0;
  if (isUpgrade) await lockTables(db, onProgress);
  for (const [index, migration] of missing.entries()) {
    if (isUpgrade) onProgress(`applying migration ${migration.name} (${index + 1} of ${missing.length})`);
    await migration.up(db);
    await db
      .insertInto('schema_migrations')
      .values({ name: migration.name, applied_ms: Date.now() })
      .execute();
  }
}

async function appliedMigrations(db: Database): Promise<Set<string>> {
  // Checked first: a role that may not create tables can still start a server when no table is missing.
  if (!isPostgres(db) || !(await hasJournal(db))) {
    await db.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('applied_ms', 'bigint', (column) => column.notNull())
      .execute();
  }
  return new Set((await db.selectFrom('schema_migrations').select('name').execute()).map(({ name }) => name));
}

async function hasJournal(db: Database): Promise<boolean> {
  const { rows } = await sql<{
    name: string | null;
  }>`select to_regclass('schema_migrations') as name`.execute(db);
  return rows[0]?.name != null;
}

/**
 * Locks all tables exclusively before a migration. Locking them one by one could deadlock with running servers, which
 * lock them in other orders. Statements of those servers wait meanwhile. On SQLite this does nothing, because a write
 * transaction locks the whole database.
 */
async function lockTables(db: Database, onProgress: Progress): Promise<void> {
  if (!isPostgres(db)) return;
  // In order of creation. Tables of another owner are left out; the migration itself then reports the missing right.
  const { rows } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and pg_has_role(relowner, 'usage')
    order by oid
  `.execute(db);
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  await lockWithRetries(
    db,
    () => db.executeQuery(CompiledQuery.raw(`lock table ${names} in access exclusive mode`)),
    () => onProgress('waiting for transactions that use the tables, such as those of a pg_dump'),
  );
}

/** Callback for the slow steps of a start. Each message is one line. */
export type Progress = (message: string) => void;
