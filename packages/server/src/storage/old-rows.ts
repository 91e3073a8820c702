import { type RawBuilder, sql } from 'kysely';
import { dropRows, type KeyedTable } from './drop-rows.ts';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

/** Rows of a table that are kept no longer. An index finds them by their age: nothing looks through the whole table. */
export interface OldRows<Table extends keyof Tables = keyof Tables> extends KeyedTable<Table> {
  /** The column that tells when a row was made, in milliseconds. */
  readonly age: keyof Tables[Table] & string;
  /** Rows that were made before are old. */
  readonly beforeMs: number;
  /** What holds of them besides. */
  readonly where?: RawBuilder<boolean>;
}

/** Names the old rows of a table. */
export function oldRows<Table extends keyof Tables>(rows: OldRows<Table>): OldRows {
  return rows as unknown as OldRows;
}

/** Drops the oldest of the rows, as many as one transaction may. Returns whether there can be more. */
export function dropOldest(
  db: Database,
  { age, beforeMs, where = sql`true`, ...rows }: OldRows,
): Promise<boolean> {
  return dropRows(db, rows, sql`${sql.ref(age)} < ${beforeMs} and ${where} order by ${sql.ref(age)}`);
}
