import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './schema.ts';

/** What queries run on: one open transaction. */
export type Database = Transaction<Tables>;

/** One write: its transaction, and what is to happen once it is durable. */
export interface Write {
  readonly db: Database;
  /** Runs `effect` after the commit, and never when the transaction is rolled back. */
  afterCommit(effect: () => void): void;
}

/** Runs `work` in one durable transaction, and what it wanted after the commit. */
export async function commit<Result>(
  database: Kysely<Tables>,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  const effects: (() => void)[] = [];
  const result = await database
    .transaction()
    .execute((db) => work({ db, afterCommit: (effect) => effects.push(effect) }));
  for (const effect of effects) effect();
  return result;
}
