import { sql } from 'kysely';
import type { Database } from '../transaction.ts';

/**
 * Checks that committed data survives a crash, because an event is acknowledged when its commit returns.
 *
 * @throws Error when commits do not wait for the disk.
 */
export async function checkDurability(db: Database): Promise<void> {
  const { rows } = await sql<{ setting: string }>`
    select current_setting('synchronous_commit') as setting
  `.execute(db);
  if (rows[0]?.setting !== 'off') return;
  throw new Error(
    'The database has synchronous_commit off for this role, so a crash could lose acknowledged events. Turn it on where it is off, such as for the role: alter role actlog set synchronous_commit = on;',
  );
}
