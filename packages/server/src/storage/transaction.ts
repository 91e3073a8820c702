import type { Kysely } from 'kysely';
import type { Tables } from './schema.ts';

/** Kysely on one open transaction. */
export type Database = Kysely<Tables>;

/** A write: its transaction, and a way to run effects once it is durable. */
export interface Write {
  readonly db: Database;
  /** Runs `effect` after the commit, and never when the transaction is rolled back. */
  afterCommit(effect: () => void): void;
}

/** Runs `work` in one durable transaction, then its effects. */
export async function commit<Result>(
  transaction: (work: (db: Database) => Promise<Result>) => Promise<Result>,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  let effects: (() => void)[] = [];
  const result = await transaction((db) => {
    // A transaction that lost a race runs again; only effects of the last run count.
    effects = [];
    return work({ db, afterCommit: (effect) => effects.push(effect) });
  });
  for (const effect of effects) effect();
  return result;
}
