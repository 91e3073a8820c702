import { type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

/** Rows that one transaction drops, so that others get their turn. */
const mostAtOnce = 1000;

/** Rows of a table that are kept no longer. An index finds them by their age: nothing looks through the whole table. */
export interface OldRows<Table extends keyof Tables = keyof Tables> {
  readonly table: Table;
  /** The columns that tell one row from another. */
  readonly key: readonly (keyof Tables[Table] & string)[];
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
export async function dropOldest(
  db: Database,
  { table, key, age, beforeMs, where = sql`true` }: OldRows,
): Promise<boolean> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)}
      where ${sql.ref(age)} < ${beforeMs} and ${where} order by ${sql.ref(age)} limit ${sql.lit(mostAtOnce)}
    )`.execute(db);
  return numAffectedRows >= mostAtOnce;
}
