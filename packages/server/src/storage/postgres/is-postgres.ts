import { PostgresAdapter } from 'kysely';
import type { Database } from '../transaction.ts';

/** `true` if statements run on PostgreSQL; `false` for SQLite. */
export function isPostgres(db: Database): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
