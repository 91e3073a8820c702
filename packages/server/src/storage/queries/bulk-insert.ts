import {
  CompiledQuery,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  type RawBuilder,
  type Selectable,
  sql,
} from 'kysely';
import { isPostgres } from '../postgres/postgres-error.ts';
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

/**
 * Creates an update of many rows by their keys. Its SQL is compiled once. SQLite runs it once per row, PostgreSQL once
 * with all rows as one parameter.
 */
export function bulkUpdate<Name extends keyof Tables, Column extends keyof Selectable<Tables[Name]> & string>(
  table: Name,
  keys: readonly Column[],
  columns: readonly Column[],
): (db: Database, rows: readonly Pick<Selectable<Tables[Name]>, Column>[]) => Promise<void> {
  let eachSql: string | undefined;
  let allSql: string | undefined;

  const given = [...columns, ...keys];

  return async (db, rows) => {
    if (rows.length === 0) return;
    if (isPostgres(db)) {
      allSql ??= updateAll(table, keys, columns).compile(db).sql;
      await db.executeQuery(CompiledQuery.raw(allSql, [JSON.stringify(rows)]));
      return;
    }
    eachSql ??= updateEach(table, keys, columns).compile(db).sql;
    const parameters = rows.map((row) => given.map((column) => row[column] ?? null));
    await db.executeQuery(CompiledQuery.raw(eachSql, parameters));
  };
}

function updateAll(
  table: keyof Tables,
  keys: readonly string[],
  columns: readonly string[],
): RawBuilder<unknown> {
  const set = columns.map((column) => sql`${sql.ref(column)} = given.${sql.ref(column)}`);
  const on = keys.map((key) => sql`${sql.table(table)}.${sql.ref(key)} = given.${sql.ref(key)}`);
  return sql`update ${sql.table(table)} set ${sql.join(set)} from ${rowsOf(table, [])} as given where ${sql.join(on, sql` and `)}`;
}

function updateEach(
  table: keyof Tables,
  keys: readonly string[],
  columns: readonly string[],
): RawBuilder<unknown> {
  const set = columns.map((column) => sql`${sql.ref(column)} = ${null}`);
  const on = keys.map((key) => sql`${sql.ref(key)} = ${null}`);
  return sql`update ${sql.table(table)} set ${sql.join(set)} where ${sql.join(on, sql` and `)}`;
}
