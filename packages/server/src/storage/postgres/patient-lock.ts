import { setTimeout } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { Database } from '../transaction.ts';
import { isLockTaken, isLostRace } from './postgres-error.ts';

/**
 * Milliseconds to wait for each lock: less than the second after which PostgreSQL looks for a deadlock and ends the
 * work of one of those in it.
 */
const lockMs = 500;

/** Milliseconds that others have to go on before the locks are asked for again. */
const pauseMs = 500;

/**
 * Takes locks until the transaction ends, however long that takes: all of them, or none for now. While this
 * waits for one of them, who wants those before it waits half a second at most.
 *
 * @param lock - the statement that takes them
 * @param onWait - is called when they are not to be had at once
 */
export async function lockPatiently(
  db: Database,
  lock: () => Promise<unknown>,
  onWait: () => void,
): Promise<void> {
  const say = (statement: string) => db.executeQuery(CompiledQuery.raw(statement));
  await say('savepoint locks');
  for (let tries = 1; ; tries += 1) {
    await say(`set local lock_timeout = ${lockMs}`);
    try {
      await lock();
      await say('set local lock_timeout = 0');
      return;
    } catch (error) {
      if (!isLostRace(error) && !isLockTaken(error)) throw error;
      await say('rollback to savepoint locks');
      if (tries === 1) onWait();
      await setTimeout(pauseMs * (0.5 + Math.random()));
    }
  }
}
