import { type Expression, type SqlBool, sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import type { Database } from '../transaction.ts';

/**
 * Returns a condition that a text column has one of the values. They are given as a JSON array in one parameter, so a
 * prepared statement serves any number of them.
 */
export function oneOf(db: Database, column: string, valuesJson: string): Expression<SqlBool> {
  return isPostgres(db)
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select json_array_elements_text(${valuesJson}::json)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${valuesJson}))`;
}
