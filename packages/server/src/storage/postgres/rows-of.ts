import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Rows of a table as one parameter, with the types that the table's columns have. Their order is kept. */
export function rowsOf(table: keyof Tables, rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::json)`;
}
