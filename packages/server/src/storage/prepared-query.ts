import { type Compilable, CompiledQuery } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import type { Database } from './transaction.ts';

/** SQL with the values that are part of it, and in the place of those that are given later their number. */
interface Prepared {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly places: readonly number[];
}

/**
 * A query whose SQL is built once for each kind of database, because building it costs more than running it.
 *
 * @param build - builds the query; what it is given stands for values to come, and may only be handed on as such
 */
export function preparedQuery<Given extends readonly unknown[], Row>(
  build: (db: Database, ...given: Given) => Compilable<Row>,
): (db: Database, ...given: Given) => Promise<Row[]> {
  let onSqlite: Prepared | undefined;
  let onPostgres: Prepared | undefined;

  const prepare = (db: Database, count: number): Prepared => {
    const standIns = Array.from({ length: count }, (_, number) => Symbol(number));
    const { sql, parameters } = build(db, ...(standIns as unknown as Given)).compile();
    return { sql, values: parameters, places: parameters.map((value) => standIns.indexOf(value as symbol)) };
  };

  return async (db, ...given) => {
    let prepared = isPostgres(db) ? onPostgres : onSqlite;
    if (!prepared) {
      prepared = prepare(db, given.length);
      if (isPostgres(db)) onPostgres = prepared;
      else onSqlite = prepared;
    }
    const { sql, values, places } = prepared;
    const parameters = places.map((place, index) => (place < 0 ? values[index] : given[place]));
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(sql, parameters));
    return rows;
  };
}
