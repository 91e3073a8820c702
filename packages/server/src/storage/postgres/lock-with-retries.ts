import { setTimeout } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { Database } from '../transaction.ts';
import { isLockTimeout, isLostRace } from './postgres-error.ts';

/**
 * Lock timeout of one attempt, in milliseconds. It is less than the second (`deadlock_timeout`) after which PostgreSQL
 * looks for deadlocks and aborts one of the transactions.
 */
const lockMs = 500;

/** Mean delay between two attempts, in milliseconds, in which other transactions can proceed. */
const delayMs = 500;

/**
 * Acquires locks that last until the transaction ends, and retries for as long as it takes. Each attempt acquires all
 * of them or none, so other transactions wait at most half a second for a lock that this one already has.
 *
 * @param lock - runs the statement that acquires the locks
 * @param onWait - called when the first attempt fails
 */
export async function lockWithRetries(
  db: Database,
  lock: () => Promise<unknown>,
  onWait: () => void,
): Promise<void> {
  const execute = (statement: string) => db.executeQuery(CompiledQuery.raw(statement));
  await execute('savepoint locks');
  for (let attempt = 1; ; attempt += 1) {
    await execute(`set local lock_timeout = ${lockMs}`);
    try {
      await lock();
      await execute('set local lock_timeout = 0');
      return;
    } catch (error) {
      if (!isLostRace(error) && !isLockTimeout(error)) throw error;
      await execute('rollback to savepoint locks');
      if (attempt === 1) onWait();
      await setTimeout(delayMs * (0.5 + Math.random()));
    }
  }
}
