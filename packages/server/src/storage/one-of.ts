import { type Expression, type SqlBool, sql } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import type { Database } from './transaction.ts';

/**
 * Whether a column of text has one of the values. On PostgreSQL the values are one parameter, so that a prepared
 * statement serves any number of them.
 */
export function oneOf(db: Database, column: string, values: readonly string[]): Expression<SqlBool> {
  return isPostgres(db)
    ? sql<SqlBool>`${sql.ref(column)} = any(${[...values]}::text[])`
    : sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`;
}
