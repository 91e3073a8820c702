import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';
import { commitError, isLostRace, PostgresError } from './postgres-error.ts';
import { type Scope, scopeSql } from './scope.ts';

/** A read sees one state of the data through all its statements; a write sees in each what others have committed. */
const beginnings = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
} as const;

/** Runs of a transaction that keeps losing against others. */
const mostRuns = 6;

/**
 * Runs `work` in a transaction of a scope. One that lost a race or a deadlock is run again, so `work` must do
 * nothing that a rollback does not undo.
 */
export async function inTransaction<Result>(
  database: Kysely<Tables>,
  mode: keyof typeof beginnings,
  scope: Scope,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const beginning = `${beginnings[mode]}; ${scopeSql(scope)}`;
  for (let run = 1; ; run += 1) {
    try {
      return await database.connection().execute((db) => runOnce(db, mode, beginning, work));
    } catch (error) {
      if (run >= mostRuns || !isLostRace(error)) throw error;
      // Who met once should not meet again.
      await setTimeout(Math.random() * 5 * 2 ** run);
    }
  }
}

async function runOnce<Result>(
  db: Database,
  mode: keyof typeof beginnings,
  beginning: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const say = (statement: string) => db.executeQuery<{ command?: string }>(CompiledQuery.raw(statement));
  try {
    await say(beginning);
    const result = await work(db);
    const { rows } = await say('commit').catch((error: unknown) => {
      throw mode === 'write' ? commitError(error) : error;
    });
    // A transaction in which a statement failed ends so, without an error.
    if (rows[0]?.command === 'ROLLBACK') {
      throw new PostgresError('The transaction was rolled back at its commit.', '40000');
    }
    return result;
  } catch (error) {
    // The connection may be what failed; the pool throws such a one away.
    await say('rollback').catch(() => {});
    throw error;
  }
}
