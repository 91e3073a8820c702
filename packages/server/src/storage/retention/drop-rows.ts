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

/** Describes a table by its name and the columns of its key. */
export function keyedTable<Table extends keyof Tables>(
  table: Table,
  ...key: readonly (keyof Tables[Table] & string)[]
): KeyedTable {
  return { table, key } as unknown as KeyedTable;
}

/** Result of one transaction that deletes rows. */
export interface DroppedRows {
  readonly count: number;
  /** `true` if there can be more rows. */
  readonly hasMore: boolean;
}

/**
 * Deletes rows of a table, up to the limit of one transaction.
 *
 * @param condition - the condition on the rows, and their order where it matters
 */
export async function dropRows(
  db: Database,
  { table, key }: KeyedTable,
  condition: RawBuilder<unknown>,
): Promise<DroppedRows> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${condition} limit ${sql.lit(maxRows)}
    )`.execute(db);
  return { count: Number(numAffectedRows), hasMore: numAffectedRows >= maxRows };
}
