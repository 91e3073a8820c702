import { CompiledQuery, sql } from 'kysely';
import type { Progress } from '../progress.ts';
import type { Database } from '../transaction.ts';
import { isPostgres } from './is-postgres.ts';
import { lockPatiently } from './patient-lock.ts';

/**
 * Takes all tables, so that a migration never waits for one with another in hand: servers at work take them in other
 * orders, and one of the two would end as a deadlock. What they ask for meanwhile waits. On SQLite every write
 * transaction has the whole database.
 */
export async function lockTables(db: Database, tell: Progress): Promise<void> {
  if (!isPostgres(db)) return;
  // In the order in which they were made; a role that does not own them will be told what it may not do.
  const { rows } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and pg_has_role(relowner, 'usage')
    order by oid
  `.execute(db);
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  await lockPatiently(
    db,
    () => db.executeQuery(CompiledQuery.raw(`lock table ${names} in access exclusive mode`)),
    () => tell('waiting for transactions that use the tables, such as those of a pg_dump'),
  );
}
