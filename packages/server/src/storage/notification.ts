import { sql } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import type { Database } from './transaction.ts';

/** The channel of PostgreSQL on which the processes of a deployment tell each other of commits. */
export const notificationChannel = 'actlog';

/**
 * Tells all processes, once the transaction is committed, that an action was decided, or, with an empty text, that
 * everyone who waits should look again. SQLite shows every commit to every process by itself.
 */
export async function notify(db: Database, actionId: string): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${notificationChannel}, ${actionId})`.execute(db);
}
