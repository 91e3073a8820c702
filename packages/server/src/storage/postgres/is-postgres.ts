import { PostgresAdapter } from 'kysely';
import type { Database } from '../transaction.ts';

/** Whether statements go to PostgreSQL; to SQLite otherwise. */
export function isPostgres(db: Database): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
