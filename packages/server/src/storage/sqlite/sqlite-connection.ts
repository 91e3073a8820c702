import { closeSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  backup,
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite';
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
import { keepNewest } from '../../lib/keep-newest.ts';

/** Options for opening a connection. */
export interface SqliteConnectionOptions {
  /** File, or `:memory:`. */
  readonly file: string;
  /** `true` if transactions take the write lock when they begin, so that they cannot fail halfway. */
  readonly writes: boolean;
  /** Maximum bytes of the database. Default: no limit. */
  readonly maxBytes?: number | undefined;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

/** Maximum prepared statements per connection; the oldest is dropped. */
const maxPreparedStatements = 256;

/** Timeout for a lock of another process, in milliseconds. */
export const lockWaitMs = 5000;

/**
 * Settings of every connection. A 202 means durable, so every commit is synced. Checkpoints are large, so a page that
 * changes often is written back once for many commits. Deleted content is overwritten.
 */
const pragmas = [
  'journal_mode = wal',
  'synchronous = full',
  'temp_store = memory',
  'wal_autocheckpoint = 4000',
  'journal_size_limit = 67108864',
  'secure_delete = on',
];

/** Page cache in KiB. A writer uses the same pages repeatedly; a reader also has the cache of the operating system. */
const writerCacheKibibytes = 65_536;
const readerCacheKibibytes = 8192;

/** SQLite's extended result code for a file that was moved after it was opened: `SQLITE_READONLY_DBMOVED`. */
const movedCode = 1032;

/** SQLite's result code for a malformed database: `SQLITE_CORRUPT`. */
const corruptCode = 11;

/** Runs work on a file, and adds a hint to the error of a malformed database. */
function withHint<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && sqliteResultCode(error) === corruptCode) {
      error.message += `; if a backup was restored beside ${file}-wal and ${file}-shm, remove both and restore it again`;
    }
    throw error;
  }
}

/** Returns the identity of a file, which differs for a replacement with the same name; `undefined` without a file. */
function identityOf(file: string, { acceptEmpty = false } = {}): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && (acceptEmpty || found.size > 0n) ? `${found.dev} ${found.ino}` : undefined;
}

function movedError(what: string): Error {
  const message = `${what} was moved, removed, replaced or emptied; restore it, or restart the server.`;
  return Object.assign(new Error(message), { errcode: movedCode });
}

/** More pages than a database can have, so a copy takes one step. It then shows one snapshot and never restarts. */
const allPages = 2 ** 31 - 1;

/**
 * Returns the rows of a statement as objects with a shared shape. The objects that `node:sqlite` itself creates are
 * dictionary-mode objects: they take several times the memory, and survive minor garbage collections.
 */
function rowsOf(statement: StatementSync, parameters: readonly SQLInputValue[]): object[] {
  const lists = statement.all(...parameters) as unknown as SQLOutputValue[][];
  if (lists.length === 0) return [];
  // Read after the rows, because SQLite prepares the statement again if another process has changed its tables.
  const names = statement.columns().map(({ name }) => name);
  return lists.map((values) => {
    const row: Record<string, SQLOutputValue> = {};
    names.forEach((name, index) => {
      row[name] = values[index] as SQLOutputValue;
    });
    return row;
  });
}

/** A `node:sqlite` connection that keeps its prepared statements. */
export class SqliteConnection implements SqliteExecutor {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #identity: string | undefined;
  /** Identity of the write-ahead log, which exists from the first commit on. */
  #logIdentity: string | undefined;
  readonly #writes: boolean;
  readonly #statements = new Map<string, Prepared>();

  /** Opens the file. @throws Error of `node:sqlite` when it cannot be opened or is not a database. */
  constructor({ file, writes, maxBytes }: SqliteConnectionOptions) {
    this.#file = resolve(file);
    this.#writes = writes;
    this.#database = new DatabaseSync(file, { timeout: lockWaitMs, enableForeignKeyConstraints: true });
    try {
      withHint(this.#file, () => this.#configure(maxBytes));
    } catch (error) {
      this.#database.close();
      throw error;
    }
    if (file !== ':memory:') this.#identity = identityOf(this.#file);
  }

  #configure(maxBytes: number | undefined): void {
    for (const pragma of pragmas) this.#database.exec(`pragma ${pragma}`);
    const cacheKibibytes = this.#writes ? writerCacheKibibytes : readerCacheKibibytes;
    this.#database.exec(`pragma cache_size = -${cacheKibibytes}`);
    if (maxBytes === undefined) return;
    const { page_size: pageSize } = this.#database.prepare('pragma page_size').get() as { page_size: number };
    this.#database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`);
  }

  execute(sql: string, parameters: readonly unknown[]): ExecuteResult {
    return withHint(this.#file, () => this.#execute(sql, parameters));
  }

  #execute(sql: string, parameters: readonly unknown[]): ExecuteResult {
    if (sql === 'rollback') return this.#rollBack();
    if (sql === 'commit' && this.#writes) this.assertSameFile();
    const { statement, isReader } = this.#prepare(sql);
    if (isReader) return { rows: rowsOf(statement, parameters as SQLInputValue[]), changes: 0 };
    if (!Array.isArray(parameters[0])) {
      return { rows: [], changes: Number(statement.run(...(parameters as SQLInputValue[])).changes) };
    }
    let changes = 0;
    for (const each of parameters as SQLInputValue[][]) changes += Number(statement.run(...each).changes);
    return { rows: [], changes };
  }

  /** Returns a number that changes when another connection has committed. */
  dataVersion(): number {
    return (this.execute('pragma data_version', []).rows[0] as { data_version: number }).data_version;
  }

  /**
   * Checks that the open files still exist under their names. SQLite keeps writing to files that were removed or
   * replaced, and such writes are lost when the process ends.
   *
   * @throws Error when a file is not the one that was opened.
   */
  assertSameFile(): void {
    if (this.#identity === undefined) return;
    const log = `${this.#file}-wal`;
    const logIdentity = identityOf(log, { acceptEmpty: true });
    this.#logIdentity ??= logIdentity;
    if (identityOf(this.#file) !== this.#identity) throw movedError(`The database ${this.#file}`);
    if (logIdentity !== this.#logIdentity) throw movedError(`The write-ahead log ${log}`);
  }

  /** Copies the database into a file, on a thread of Node.js. Statements of this connection wait meanwhile. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#database, file, { rate: allPages });
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const existing = this.#statements.get(sql);
    if (existing) return existing;
    const statement = this.#database.prepare(this.#writes && sql === 'begin' ? 'begin immediate' : sql);
    statement.setReturnArrays(true);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    keepNewest(this.#statements, sql, prepared, maxPreparedStatements);
    return prepared;
  }

  /** Rolls back, unless a failed commit (as on a full disk) has already done so: an error here would hide its error. */
  #rollBack(): ExecuteResult {
    if (this.#database.isTransaction) this.#database.exec('rollback');
    return { rows: [], changes: 0 };
  }
}

/**
 * Returns SQLite's primary result code of a `node:sqlite` error (https://www.sqlite.org/rescode.html), or `undefined`
 * for any other error.
 */
export function sqliteResultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
}

/**
 * Creates an empty file that only its owner can read, unless it exists. SQLite would create it by the umask, often
 * readable by every user, and gives the files beside it the same permissions. Errors are ignored, because SQLite opens
 * the file next and reports them.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {}
}

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
