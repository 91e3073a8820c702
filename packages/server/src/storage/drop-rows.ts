import { type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

/** Rows that one transaction drops, so that others get their turn. */
const mostAtOnce = 1000;

/** A table, and the columns that tell one of its rows from another. */
export interface KeyedTable<Table extends keyof Tables = keyof Tables> {
  readonly table: Table;
  readonly key: readonly (keyof Tables[Table] & string)[];
}

/**
 * Drops rows of a table, as many as one transaction may. Returns whether there can be more.
 *
 * @param which - the condition that they meet, and the order in which they go where that matters
 */
export async function dropRows(
  db: Database,
  { table, key }: KeyedTable,
  which: RawBuilder<unknown>,
): Promise<boolean> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${which} limit ${sql.lit(mostAtOnce)}
    )`.execute(db);
  return numAffectedRows >= mostAtOnce;
}
