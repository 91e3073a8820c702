import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';
import { dropRows, type KeyedTable } from './drop-rows.ts';

/** Rows of a table that are past their retention. An index on their age finds them without a table scan. */
export interface OldRows<Table extends keyof Tables = keyof Tables> extends KeyedTable<Table> {
  /** Column with the time at which a row was created, in Unix milliseconds. */
  readonly age: keyof Tables[Table] & string;
  /** Rows created before this time are old, in Unix milliseconds. */
  readonly beforeMs: number;
  /** Further condition on the rows. */
  readonly where?: RawBuilder<boolean>;
}

/** Describes the old rows of a table. */
export function oldRows<Table extends keyof Tables>(rows: OldRows<Table>): OldRows {
  return rows as unknown as OldRows;
}

/** Deletes the oldest of the rows, up to the limit of one transaction. Returns `true` if there can be more. */
export async function dropOldest(
  db: Database,
  { age, beforeMs, where = sql`true`, ...rows }: OldRows,
): Promise<boolean> {
  const condition = sql`${sql.ref(age)} < ${beforeMs} and ${where} order by ${sql.ref(age)}`;
  return (await dropRows(db, rows, condition)).hasMore;
}
