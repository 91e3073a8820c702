import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** Creates Kysely's SQLite dialect on an executor, which may run in another thread. */
export function sqliteDialect(executor: SqliteExecutor): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ExecutorDriver(executor),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Driver with a single connection, which Kysely gives to one user at a time. */
class ExecutorDriver implements Driver {
  readonly #executor: SqliteExecutor;
  readonly #connection: DatabaseConnection;

  constructor(executor: SqliteExecutor) {
    this.#executor = executor;
    this.#connection = new ExecutorConnection(executor);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    await this.#executor.execute('begin', []);
  }

  async commitTransaction(): Promise<void> {
    await this.#executor.execute('commit', []);
  }

  async rollbackTransaction(): Promise<void> {
    await this.#executor.execute('rollback', []);
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#executor.close();
  }
}

class ExecutorConnection implements DatabaseConnection {
  readonly #executor: SqliteExecutor;

  constructor(executor: SqliteExecutor) {
    this.#executor = executor;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes } = await this.#executor.execute(sql, parameters);
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error(
      'Streaming is not supported, because an open cursor would occupy the only connection; read page by page.',
    );
  }
}

/** Result of a statement. */
export interface ExecuteResult {
  readonly rows: unknown[];
  /** Number of rows written. */
  readonly changes: number;
}

/**
 * Executor of statements on one SQLite connection, in this thread or another. With a list of lists as parameters it
 * runs the statement once per list, which is faster in SQLite than one statement with many rows.
 */
export interface SqliteExecutor {
  execute(sql: string, parameters: readonly unknown[]): ExecuteResult | Promise<ExecuteResult>;
  close(): void | Promise<void>;
}
