import { sql } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import type { Database } from './transaction.ts';

/** Name of the PostgreSQL channel on which the processes of a deployment notify each other of commits. */
export const notificationChannel = 'actlog';

/**
 * Notifies all processes, once the transaction commits, that an action was decided. An empty id tells every waiting
 * request to look again. SQLite needs no notification, because each process sees every commit.
 */
export async function notify(db: Database, actionId: string): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${notificationChannel}, ${actionId})`.execute(db);
}
