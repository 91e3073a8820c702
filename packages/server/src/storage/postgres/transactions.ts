import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Database, type Scope, scopeSql, withoutResult } from '../transaction.ts';
import { commitError, isLockTimeout, isLostRace, PostgresError } from './postgres-error.ts';

/** A read sees one snapshot in all its statements. Each statement of a write sees what others have committed. */
const beginStatements = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
} as const;

/** Maximum runs of a transaction that keeps losing to others. */
const maxRuns = 6;

/**
 * Runs `work` in a transaction with a scope. A transaction that lost a race or a deadlock runs again, so `work` must
 * have no effects that a rollback does not undo.
 */
export async function inTransaction<Result>(
  database: Kysely<Tables>,
  mode: keyof typeof beginStatements,
  scope: Scope,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const beginSql = `${withoutResult}${beginStatements[mode]}; ${scopeSql(scope)}`;
  for (let run = 1; ; run += 1) {
    try {
      return await database.connection().execute((db) => runOnce(db, mode, beginSql, work));
    } catch (error) {
      if (run >= maxRuns || !isLostRace(error)) throw error;
      // A random delay, so that the same transactions do not collide again.
      await setTimeout(Math.random() * 5 * 2 ** run);
    }
  }
}

async function runOnce<Result>(
  db: Database,
  mode: keyof typeof beginStatements,
  beginSql: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const execute = (statement: string) => db.executeQuery<{ command?: string }>(CompiledQuery.raw(statement));
  try {
    await execute(beginSql);
    const result = await work(db);
    const { rows } = await execute('commit').catch((error: unknown) => {
      throw mode === 'write' ? commitError(error) : error;
    });
    // PostgreSQL reports the commit of a failed transaction as ROLLBACK, without an error.
    if (rows[0]?.command === 'ROLLBACK') {
      throw new PostgresError('The transaction was rolled back at its commit.', '40000');
    }
    return result;
  } catch (error) {
    // The connection itself may have failed; the pool then discards it.
    await execute('rollback').catch(() => {});
    throw error;
  }
}

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
