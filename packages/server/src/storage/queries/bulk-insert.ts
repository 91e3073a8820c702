import { CompiledQuery, type Insertable, type InsertQueryBuilder, type InsertResult, sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import { rowsOf } from '../postgres/rows-of.ts';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';

type Insert<Name extends keyof Tables> = InsertQueryBuilder<Tables, Name, InsertResult>;

/**
 * Creates an insert of many rows. Its SQL is compiled once, because compiling costs more than running it. SQLite runs
 * it once per row, PostgreSQL once with all rows as one parameter. `finish` adds the conflict clause.
 */
export function bulkInsert<Name extends keyof Tables>(
  table: Name,
  columns: readonly (keyof Insertable<Tables[Name]> & string)[],
  finish: (insert: Insert<Name>) => Insert<Name>,
): (db: Database, rows: readonly Insertable<Tables[Name]>[]) => Promise<number> {
  let eachSql: string | undefined;
  let allSql: string | undefined;

  /** Returns the number of rows written. */
  return async (db, rows) => {
    if (rows.length === 0) return 0;
    if (isPostgres(db)) {
      allSql ??= finish(
        db
          .insertInto(table)
          .columns(columns as never)
          .expression(
            sql`select ${sql.join(columns.map(sql.ref))} from ${rowsOf(table, [])}`,
          ) as Insert<Name>,
      ).compile().sql;
      const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(allSql, [JSON.stringify(rows)]));
      return Number(numAffectedRows ?? 0n);
    }
    if (eachSql === undefined) {
      const sample = Object.fromEntries(columns.map((column) => [column, rows[0]?.[column] ?? null]));
      eachSql = finish(db.insertInto(table).values(sample as never) as Insert<Name>).compile().sql;
    }
    const parameters = rows.map((row) => columns.map((column) => row[column] ?? null));
    const result = await db.executeQuery(CompiledQuery.raw(eachSql, parameters));
    return Number(result.numAffectedRows ?? 0n);
  };
}
