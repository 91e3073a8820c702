import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Returns rows of a table as one parameter, with the types of the table's columns. Keeps their order. */
export function rowsOf(table: keyof Tables, rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::json)`;
}
