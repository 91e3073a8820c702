import {
  type Compilable,
  CompiledQuery,
  type Expression,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely';
import type { Tables } from './schema.ts';

/** Kysely on one open transaction. */
export type Database = Kysely<Tables>;

/** A write: its transaction, and a way to run effects once it is durable. */
export interface Write {
  readonly db: Database;
  /** Runs `effect` after the commit, and never when the transaction is rolled back. */
  afterCommit(effect: () => void): void;
}

/** `true` if statements run on PostgreSQL; `false` for SQLite. */
export function isPostgres(db: Database): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Kind of work without a single tenant. Row-level security gives each kind only the rows it needs: `authenticate` reads
 * API keys; `administer` manages tenants and API keys; `sweep` finds due work of all tenants, leases deliveries and
 * deletes expired data; `migrate` changes tables, and has no rows.
 */
export type CrossTenantWork = 'authenticate' | 'administer' | 'sweep' | 'migrate';

/** Rows visible to a transaction: the rows of one tenant, or those that one kind of cross-tenant work needs. */
export type Scope = number | CrossTenantWork;

/**
 * Returns the statement that sets the scope for the rest of the transaction. The row-level security policies read these
 * two settings; without them, a transaction sees no rows.
 *
 * @throws RangeError for an invalid tenant id.
 */
export function scopeSql(scope: Scope): string {
  if (typeof scope === 'string') {
    return `set local actlog.tenant_id = ''; set local actlog.work = '${scope}'`;
  }
  if (!Number.isSafeInteger(scope)) throw new RangeError(`${scope} is not a tenant id.`);
  return `set local actlog.tenant_id = '${scope}'; set local actlog.work = ''`;
}

/** Runs `work` on the rows of a tenant within a transaction across tenants. */
export async function withinTenant<Result>(
  db: Database,
  tenantId: number,
  outer: CrossTenantWork,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isPostgres(db)) return work();
  await enterScope(db, tenantId);
  const result = await work();
  await enterScope(db, outer);
  return result;
}

/** Changes the scope of an open transaction. */
export async function enterScope(db: Database, scope: Scope): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(scopeSql(scope)));
}

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

/**
 * Begin of a statement of which the caller needs no result. PostgreSQL receives it without a wait for its response, and the
 * next statement with a result, at the latest the commit, fails with its error.
 */
export const withoutResult = '/* without result */ ';

type Insert<Name extends keyof Tables> = InsertQueryBuilder<Tables, Name, InsertResult>;

/**
 * Creates an insert of many rows. Its SQL is compiled once, because compiling costs more than running it. SQLite runs
 * it once per row, PostgreSQL once with all rows as one parameter. `finish` adds the conflict clause.
 */
export function bulkInsert<Name extends keyof Tables>(
  table: Name,
  columns: readonly (keyof Insertable<Tables[Name]> & string)[],
  finish: (insert: Insert<Name>) => Insert<Name>,
  prefix = '',
): (db: Database, rows: readonly Insertable<Tables[Name]>[]) => Promise<number> {
  let eachSql: string | undefined;
  let allSql: string | undefined;
  const insertOfAll = (db: Database) =>
    db
      .insertInto(table)
      .columns(columns as never)
      .expression(sql`select ${sql.join(columns.map(sql.ref))} from ${rowsOf(table, [])}`) as Insert<Name>;

  /** Returns the number of rows written. */
  return async (db, rows) => {
    if (rows.length === 0) return 0;
    if (isPostgres(db)) {
      allSql ??= prefix + finish(insertOfAll(db)).compile().sql;
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

/** Creates a {@link bulkInsert} that does not wait for its result on PostgreSQL; see {@link withoutResult}. */
export function bulkWrite<Name extends keyof Tables>(
  ...[table, columns, finish]: Parameters<typeof bulkInsert<Name>>
): (db: Database, rows: readonly Insertable<Tables[Name]>[]) => Promise<void> {
  const insert = bulkInsert(table, columns, finish, withoutResult);
  return async (db, rows) => {
    await insert(db, rows);
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

/**
 * Returns a condition that a text column has one of the values. They are given as a JSON array in one parameter, so a
 * prepared statement serves any number of them.
 */
export function oneOf(db: Database, column: string, valuesJson: string): Expression<SqlBool> {
  return isPostgres(db)
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select json_array_elements_text(${valuesJson}::json)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${valuesJson}))`;
}

/** Returns rows of a table as one parameter, with the types of the table's columns. Keeps their order. */
export function rowsOf(table: keyof Tables, rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::json)`;
}
