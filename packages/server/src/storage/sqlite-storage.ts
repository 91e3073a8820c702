import { Kysely } from 'kysely';
import type { EventGroup, RecordedGroups, Settled } from '../ingest/event-recorder.ts';
import { Recording } from '../ingest/recording.ts';
import { SqliteWriter } from '../sqlite-writer.ts';
import { backUp, copyInto } from './backup.ts';
import { migrate } from './migrate.ts';
import { sqliteMigrations } from './migrations/sqlite.ts';
import { makePrivateFile } from './private-file.ts';
import type { Progress } from './progress.ts';
import type { Tables } from './schema.ts';
import { lockWaitMs, SqliteConnection } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { sqliteResultCode } from './sqlite-result-code.ts';
import type { CrossTenantWork, Storage } from './storage.ts';
import { commit, type Database, type Write } from './transaction.ts';

/** Which file holds the data. */
export interface SqliteStorageOptions {
  /** Path of the SQLite file, or `:memory:`. */
  readonly file: string;
  /** Bytes that the file may grow to; beyond it writes are refused with 503. Unbounded when left out. */
  readonly maxBytes?: number | undefined;
  /** Is told what of the opening takes long. */
  readonly tell?: Progress | undefined;
}

/** SQLite's own result code for a file that another process writes to: `SQLITE_BUSY`. */
const busyCode = 5;

/** Milliseconds between looks for what others have committed, while someone waits. */
const lookEveryMs = 200;

/**
 * One SQLite file: one connection writes in a thread of its own and one reads in this thread. In memory there is one
 * connection for both. Several processes of one machine may share the file.
 */
export class SqliteStorage implements Storage {
  readonly isShared = false;
  readonly #file: string;
  readonly #reads: Kysely<Tables>;
  readonly #writes: Kysely<Tables>;
  readonly #reader: SqliteConnection;
  /** Used in memory only; on a file the writer's thread has its own. */
  readonly #recording: Recording | undefined;
  /** The thread that writes; undefined in memory. */
  readonly #writer: SqliteWriter | undefined;

  private constructor({ file, maxBytes }: SqliteStorageOptions) {
    this.#file = file;
    if (file === ':memory:') {
      this.#reader = new SqliteConnection({ file, writes: true, maxBytes });
      this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
      this.#reads = this.#writes;
      this.#recording = new Recording(this.#writes);
      return;
    }
    makePrivateFile(file);
    this.#writer = new SqliteWriter({ file, writes: true, maxBytes });
    this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.#writer) });
    this.#reader = new SqliteConnection({ file, writes: false });
    this.#reads = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
  }

  /** Opens the file and brings its tables up to date. @throws when it cannot be opened or is newer. */
  static async open(options: SqliteStorageOptions): Promise<SqliteStorage> {
    let storage: SqliteStorage | undefined;
    try {
      storage = new SqliteStorage(options);
      await storage.#bringUpToDate(options.tell);
      // From the first commit on there is a log, which the reader then knows from another.
      storage.#reader.requireFile();
      return storage;
    } catch (error) {
      await storage?.close();
      // What is not SQLite's own names the database itself.
      if (!(error instanceof Error && 'errcode' in error)) throw error;
      throw new Error(`${options.file} cannot be opened: ${error.message}`, { cause: error });
    }
  }

  /** Waits for another process as long as it takes: it may be bringing the tables of a large file up to date. */
  async #bringUpToDate(tell: Progress = () => {}): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#writes.transaction().execute((db) => migrate(db, sqliteMigrations, tell));
        return;
      } catch (error) {
        if (sqliteResultCode(error) !== busyCode) throw error;
        if (tries === 1) tell('waiting for another process that writes to the database');
      }
    }
  }

  read<Result>(_tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#reads.transaction().execute(work);
  }

  write<Result>(_tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit((run) => this.#writes.transaction().execute(run), work);
  }

  readAcross<Result>(_kind: CrossTenantWork, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#reads.transaction().execute(work);
  }

  writeAcross<Result>(_kind: CrossTenantWork, work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit((run) => this.#writes.transaction().execute(run), work);
  }

  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    if (this.#recording) return this.#recording.record(groups);
    return this.#writes.connection().execute(() => (this.#writer as SqliteWriter).record(groups));
  }

  async settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled> {
    if (this.#recording) return this.#recording.settle(behind);
    return this.#writes.connection().execute(() => (this.#writer as SqliteWriter).settle(behind));
  }

  forgetSessions(): void {
    this.#recording?.forget();
  }

  watch(onChange: (actionId: undefined) => void): () => void {
    let known: string | undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      try {
        const now = await this.#changeMark();
        // What was committed before the first look was told to nobody.
        if (now !== known) onChange(undefined);
        known = now;
      } catch {
        // Who waits finds out by its own reading.
      } finally {
        isLooking = false;
      }
    };
    void look();
    const timer = setInterval(() => void look(), lookEveryMs);
    timer.unref();
    return () => clearInterval(timer);
  }

  /**
   * Differs when another process has committed, or any has changed policies. The connection that writes is asked,
   * because to another one every event of this process is a change, and all who wait would look for nothing.
   */
  async #changeMark(): Promise<string> {
    const { rows } = await (this.#writer ?? this.#reader).execute('pragma data_version', []);
    const settings = this.#reader.execute('select sum(settings_version) as version from tenants', []).rows;
    return JSON.stringify([rows, settings]);
  }

  async requireHearing(): Promise<void> {}

  async maintain(): Promise<void> {}

  async emptyLog(): Promise<void> {
    const writer = this.#writer;
    if (!writer) return;
    await this.#writes.connection().execute(async () => {
      // It has everybody's writes wait for it, so it does not wait for who reads.
      await writer.execute('pragma busy_timeout = 0', []);
      try {
        await writer.execute('pragma wal_checkpoint(truncate)', []);
      } finally {
        await writer.execute(`pragma busy_timeout = ${lockWaitMs}`, []);
      }
    });
  }

  async probe(): Promise<void> {
    this.#writer?.requireAlive();
    this.#reader.requireFile();
    // A statement that names no table is answered without a look at the file.
    await this.#reads.selectFrom('tenants').select('id').limit(1).execute();
  }

  backup(file: string): Promise<void> {
    // A connection of its own, for which nobody waits; memory has but the one.
    if (this.#writer) return backUp(this.#file, file);
    return this.#writes.connection().execute(() => copyInto(this.#reader, file));
  }

  async close(): Promise<void> {
    await this.#writes.destroy();
    await this.#reads.destroy();
    // Kysely closes only what it has used.
    this.#reader.close();
    await this.#writer?.close();
  }
}
