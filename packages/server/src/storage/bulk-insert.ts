import { CompiledQuery, type Insertable, type InsertQueryBuilder, type InsertResult } from 'kysely';
import type { Tables } from './schema.ts';
import type { Database } from './transaction.ts';

type Insert<Name extends keyof Tables> = InsertQueryBuilder<Tables, Name, InsertResult>;

/**
 * An insert of many rows. Its SQL is built once, because building it costs more than running it, and runs once for
 * each row. `finish` adds what to do on conflict.
 */
export function bulkInsert<Name extends keyof Tables>(
  table: Name,
  columns: readonly (keyof Insertable<Tables[Name]> & string)[],
  finish: (insert: Insert<Name>) => Insert<Name>,
): (db: Database, rows: readonly Insertable<Tables[Name]>[]) => Promise<number> {
  let sql: string | undefined;

  /** Returns how many rows were written. */
  return async (db, rows) => {
    if (rows.length === 0) return 0;
    if (sql === undefined) {
      const sample = Object.fromEntries(columns.map((column) => [column, rows[0]?.[column] ?? null]));
      sql = finish(db.insertInto(table).values(sample as never) as Insert<Name>).compile().sql;
    }
    const parameters = rows.map((row) => columns.map((column) => row[column] ?? null));
    const result = await db.executeQuery(CompiledQuery.raw(sql, parameters));
    return Number(result.numAffectedRows ?? 0n);
  };
}
