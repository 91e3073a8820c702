import { type Compilable, CompiledQuery } from 'kysely';
import { isPostgres } from '../postgres/postgres-error.ts';
import type { Database } from '../transaction.ts';

/** SQL with its constants, and for each parameter the index of the argument to use (-1 for a constant). */
interface Prepared {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly argumentIndexes: readonly number[];
}

/**
 * Creates a query whose SQL is compiled once per kind of database, because compiling costs more than running it.
 *
 * @param build - builds the query; its arguments are placeholders that it may only pass on as parameters
 */
export function preparedQuery<Given extends readonly unknown[], Row>(
  build: (db: Database, ...given: Given) => Compilable<Row>,
): (db: Database, ...given: Given) => Promise<Row[]> {
  let onSqlite: Prepared | undefined;
  let onPostgres: Prepared | undefined;

  const prepare = (db: Database, count: number): Prepared => {
    const placeholders = Array.from({ length: count }, (_, number) => Symbol(number));
    const { sql, parameters } = build(db, ...(placeholders as unknown as Given)).compile();
    return {
      sql,
      values: parameters,
      argumentIndexes: parameters.map((value) => placeholders.indexOf(value as symbol)),
    };
  };

  return async (db, ...given) => {
    let prepared = isPostgres(db) ? onPostgres : onSqlite;
    if (!prepared) {
      prepared = prepare(db, given.length);
      if (isPostgres(db)) onPostgres = prepared;
      else onSqlite = prepared;
    }
    const { sql, values, argumentIndexes } = prepared;
    const parameters = argumentIndexes.map((argumentIndex, index) =>
      argumentIndex < 0 ? values[index] : given[argumentIndex],
    );
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(sql, parameters));
    return rows;
  };
}
