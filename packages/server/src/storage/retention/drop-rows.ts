import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';

/** Maximum rows that one transaction deletes, so that other transactions get their turn. */
const maxRows = 1000;

/** A table and the columns of its key within a tenant. */
export interface KeyedTable<Table extends keyof Tables = keyof Tables> {
  readonly table: Table;
  readonly key: readonly (keyof Tables[Table] & string)[];
}

/**
 * Deletes rows of a table, up to the limit of one transaction.
 *
 * @param condition - the condition on the rows, and their order where it matters
 * @returns `true` if there can be more rows.
 */
export async function dropRows(
  db: Database,
  { table, key }: KeyedTable,
  condition: RawBuilder<unknown>,
): Promise<boolean> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${condition} limit ${sql.lit(maxRows)}
    )`.execute(db);
  return numAffectedRows >= maxRows;
}
