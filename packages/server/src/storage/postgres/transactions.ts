import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';
import { commitError, isLostRace, PostgresError } from './postgres-error.ts';
import { type Scope, scopeSql } from './scope.ts';

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
  const beginSql = `${beginStatements[mode]}; ${scopeSql(scope)}`;
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
