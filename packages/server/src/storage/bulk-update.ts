import { CompiledQuery, type Selectable, sql } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import { rowsOf } from './postgres/rows-of.ts';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

/**
 * An update of many rows by their keys, built once: SQLite runs it once for each row, PostgreSQL once with all rows
 * as one parameter.
 */
export function bulkUpdate<Name extends keyof Tables, Column extends keyof Selectable<Tables[Name]> & string>(
  table: Name,
  keys: readonly Column[],
  columns: readonly Column[],
): (db: Database, rows: readonly Pick<Selectable<Tables[Name]>, Column>[]) => Promise<void> {
  let eachSql: string | undefined;
  let allSql: string | undefined;

  return async (db, rows) => {
    if (rows.length === 0) return;
    if (isPostgres(db)) {
      const set = columns.map((column) => sql`${sql.ref(column)} = given.${sql.ref(column)}`);
      const on = keys.map((key) => sql`${sql.table(table)}.${sql.ref(key)} = given.${sql.ref(key)}`);
      allSql ??=
        sql`update ${sql.table(table)} set ${sql.join(set)} from ${rowsOf(table, [])} as given where ${sql.join(on, sql` and `)}`.compile(
          db,
        ).sql;
      await db.executeQuery(CompiledQuery.raw(allSql, [JSON.stringify(rows)]));
      return;
    }
    const set = columns.map((column) => sql`${sql.ref(column)} = ${null}`);
    const on = keys.map((key) => sql`${sql.ref(key)} = ${null}`);
    eachSql ??=
      sql`update ${sql.table(table)} set ${sql.join(set)} where ${sql.join(on, sql` and `)}`.compile(db).sql;
    const parameters = rows.map((row) => [...columns, ...keys].map((column) => row[column] ?? null));
    await db.executeQuery(CompiledQuery.raw(eachSql, parameters));
  };
}
