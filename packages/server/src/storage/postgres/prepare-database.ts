import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { lockNames } from '../locks.ts';
import { migrate } from '../migrate.ts';
import { postgresMigrations } from '../migrations/postgres.ts';
import type { Progress } from '../progress.ts';
import type { Tables } from '../schema.ts';
import { checkDurability } from './durability-check.ts';
import { checkEncoding } from './encoding-check.ts';
import { keepPartitions } from './partitions.ts';
import { lockPatiently } from './patient-lock.ts';
import { PostgresPool } from './pool.ts';
import { checkPooling } from './pooling-check.ts';
import { checkRole } from './role-check.ts';
import { inTransaction } from './transactions.ts';

/**
 * Brings the tables up to date and makes the partitions ready, on a connection of its own that waits for an answer
 * as long as it takes: another server may be at it, and a large table may take its time.
 *
 * @param mayWait - tells of an error whether the partitions can be left to another time
 * @param tell - is told what takes long
 * @throws Error when the database cannot be reached, is behind a pooler that pools by transaction, is newer, cannot hold
 *   every text, would not keep tenants apart, or does not keep what it has committed.
 */
export async function prepareDatabase(
  url: string,
  mayWait: (error: unknown) => boolean,
  tell: Progress,
): Promise<void> {
  await checkPooling(url);
  const pool = new PostgresPool({ url, connections: 1, isPatient: true });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await database.connection().execute(checkRole);
    await database.connection().execute(checkEncoding);
    await database.connection().execute(checkDurability);
    await inTransaction(database, 'write', 'partition', async (db) => {
      await db.executeQuery(CompiledQuery.raw('set local lock_timeout = 0; set local statement_timeout = 0'));
      await lockPatiently(
        db,
        () => lockNames(db, 0, ['migrations']),
        () => tell('waiting for another server that looks after the tables'),
      );
      await migrate(db, postgresMigrations, tell);
    });
    await inTransaction(database, 'write', 'partition', async (db) => {
      // Who waits for a lock of the events keeps others from them, so for that the limit stays.
      await db.executeQuery(CompiledQuery.raw('set local statement_timeout = 0'));
      await keepPartitions(db, Date.now());
    }).catch((error: unknown) => {
      if (!mayWait(error)) throw error;
    });
  } finally {
    await database.destroy();
    // Kysely closes only what it has used.
    await pool.end().catch(() => {});
  }
}
