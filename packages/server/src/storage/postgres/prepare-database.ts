import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { lockNames } from '../locks.ts';
import { migrate } from '../migrate.ts';
import { postgresMigrations } from '../migrations/postgres.ts';
import type { Progress } from '../progress.ts';
import type { Tables } from '../schema.ts';
import { checkDurability } from './durability-check.ts';
import { checkEncoding } from './encoding-check.ts';
import { lockWithRetries } from './lock-with-retries.ts';
import { maintainPartitions } from './partitions.ts';
import { PostgresPool } from './pool.ts';
import { checkPooling } from './pooling-check.ts';
import { checkRole } from './role-check.ts';
import { inTransaction } from './transactions.ts';

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
