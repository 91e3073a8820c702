import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  backup,
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite';
import { keepNewest } from '../keep-newest.ts';
import type { ExecuteResult, SqliteExecutor } from './sqlite-executor.ts';
import { sqliteResultCode } from './sqlite-result-code.ts';

/** How a connection is opened. */
export interface SqliteConnectionOptions {
  /** File, or `:memory:`. */
  readonly file: string;
  /** Whether its transactions take the write lock at once, instead of failing half way when another has it. */
  readonly writes: boolean;
  /** Bytes that the database may grow to; unbounded when left out. */
  readonly maxBytes?: number | undefined;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

/** Statements kept ready per connection; beyond them the oldest is dropped. */
const keptStatements = 256;

/** How long a statement waits for another process, in milliseconds. */
export const lockWaitMs = 5000;

/**
 * A 202 means durable, so every commit is synced. Pages are written back from the log in large runs, because a hot
 * page is then written once for many commits. What is deleted is overwritten, and not only forgotten.
 */
const setUp = [
  'journal_mode = wal',
  'synchronous = full',
  'temp_store = memory',
  'wal_autocheckpoint = 4000',
  'journal_size_limit = 67108864',
  'secure_delete = on',
];

/** Pages kept in memory. A writer comes back to the same pages; a reader has those of the system besides. */
const writerCacheKibibytes = 65_536;
const readerCacheKibibytes = 8192;

/** SQLite's own result code for a file that has been moved since it was opened: `SQLITE_READONLY_DBMOVED`. */
const movedCode = 1032;

/** SQLite's own result code for a file that contradicts itself: `SQLITE_CORRUPT`. */
const corruptCode = 11;

/** Runs work on a file; an error that says that the file contradicts itself says what may be done about it too. */
function explained<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && sqliteResultCode(error) === corruptCode) {
      error.message += `; if a backup was put there beside ${file}-wal and ${file}-shm, remove both and put it there again`;
    }
    throw error;
  }
}

/** Tells one file of a machine from another that has taken its name; undefined where there is none. */
function identityOf(file: string, { isEmptyToo = false } = {}): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && (isEmptyToo || found.size > 0n) ? `${found.dev} ${found.ino}` : undefined;
}

function movedError(what: string): Error {
  const message = `${what} was moved, removed, replaced or emptied; put it back, or start the server anew.`;
  return Object.assign(new Error(message), { errcode: movedCode });
}

/** More pages than a database can have: a copy in one step shows one moment, and no writer makes it begin anew. */
const allPages = 2 ** 31 - 1;

/**
 * The rows of a statement as objects. Those that `node:sqlite` makes itself are hash tables, each of its own: they take
 * several times the memory, and the collector of short-lived objects does not get rid of them.
 */
function rowsOf(statement: StatementSync, parameters: readonly SQLInputValue[]): object[] {
  const lists = statement.all(...parameters) as unknown as SQLOutputValue[][];
  if (lists.length === 0) return [];
  // Asked afterwards, because SQLite prepares a statement anew whose tables another process has changed.
  const names = statement.columns().map(({ name }) => name);
  return lists.map((values) => {
    const row: Record<string, SQLOutputValue> = {};
    names.forEach((name, index) => {
      row[name] = values[index] as SQLOutputValue;
    });
    return row;
  });
}

/** One `node:sqlite` connection with prepared statements kept. */
export class SqliteConnection implements SqliteExecutor {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #identity: string | undefined;
  /** Of the file beside it that has the latest commits; it is there from the first of them on. */
  #logIdentity: string | undefined;
  readonly #writes: boolean;
  readonly #statements = new Map<string, Prepared>();

  /** Opens the file. @throws Error of `node:sqlite` when it cannot be opened or is no database. */
  constructor({ file, writes, maxBytes }: SqliteConnectionOptions) {
    this.#file = resolve(file);
    this.#writes = writes;
    this.#database = new DatabaseSync(file, { timeout: lockWaitMs, enableForeignKeyConstraints: true });
    explained(this.#file, () => {
      for (const pragma of setUp) this.#database.exec(`pragma ${pragma}`);
    });
    this.#database.exec(`pragma cache_size = -${writes ? writerCacheKibibytes : readerCacheKibibytes}`);
    if (maxBytes !== undefined) {
      const { page_size: pageSize } = this.#database.prepare('pragma page_size').get() as {
        page_size: number;
      };
      this.#database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`);
    }
    if (file !== ':memory:') this.#identity = identityOf(this.#file);
  }

  execute(sql: string, parameters: readonly unknown[]): ExecuteResult {
    return explained(this.#file, () => this.#execute(sql, parameters));
  }

  #execute(sql: string, parameters: readonly unknown[]): ExecuteResult {
    if (sql === 'rollback') return this.#rollBack();
    if (sql === 'commit' && this.#writes) this.requireFile();
    const { statement, isReader } = this.#prepare(sql);
    if (isReader) return { rows: rowsOf(statement, parameters as SQLInputValue[]), changes: 0 };
    if (!Array.isArray(parameters[0])) {
      return { rows: [], changes: Number(statement.run(...(parameters as SQLInputValue[])).changes) };
    }
    let changes = 0;
    for (const each of parameters as SQLInputValue[][]) changes += Number(statement.run(...each).changes);
    return { rows: [], changes };
  }

  /** A number that changes when another connection has committed. */
  dataVersion(): number {
    return (this.execute('pragma data_version', []).rows[0] as { data_version: number }).data_version;
  }

  /**
   * SQLite goes on with files that were removed or replaced, and what it writes there is gone with the process.
   *
   * @throws Error when a file is not the one that was opened.
   */
  requireFile(): void {
    if (this.#identity === undefined) return;
    const log = `${this.#file}-wal`;
    const logIdentity = identityOf(log, { isEmptyToo: true });
    this.#logIdentity ??= logIdentity;
    if (identityOf(this.#file) !== this.#identity) throw movedError(`The database ${this.#file}`);
    if (logIdentity !== this.#logIdentity) throw movedError(`The write-ahead log ${log}`);
  }

  /** Copies the database into a file, in a thread of Node's; statements of this connection wait for it. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#database, file, { rate: allPages });
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const kept = this.#statements.get(sql);
    if (kept) return kept;
    const statement = this.#database.prepare(this.#writes && sql === 'begin' ? 'begin immediate' : sql);
    statement.setReturnArrays(true);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    keepNewest(this.#statements, sql, prepared, keptStatements);
    return prepared;
  }

  /** A failed commit, as on a full disk, has already rolled back; a second rollback would hide its error. */
  #rollBack(): ExecuteResult {
    if (this.#database.isTransaction) this.#database.exec('rollback');
    return { rows: [], changes: 0 };
  }
}
