import { CompiledQuery, sql } from 'kysely';
import type { Progress } from '../progress.ts';
import type { Database } from '../transaction.ts';
import { isPostgres } from './is-postgres.ts';
import { lockWithRetries } from './lock-with-retries.ts';

/**
 * Locks all tables exclusively before a migration. Locking them one by one could deadlock with running servers, which
 * lock them in other orders. Statements of those servers wait meanwhile. On SQLite this does nothing, because a write
 * transaction locks the whole database.
 */
export async function lockTables(db: Database, onProgress: Progress): Promise<void> {
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
