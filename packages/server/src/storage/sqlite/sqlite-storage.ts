import { resolve } from 'node:path';
import { Kysely } from 'kysely';
import { backUp, copyInto } from '../backup.ts';
import type { CachedRecording, EventGroup, RecordedGroups, ScoringBacklog } from '../event-recording.ts';
import type { Appended, AppendOptions } from '../log/tenant-log.ts';
import { migrate, type Progress } from '../migrate.ts';
import { sqliteMigrations } from '../migrations/sqlite.ts';
import type { Tables } from '../schema.ts';
import { commit, type Storage } from '../storage.ts';
import type { CrossTenantWork, Database, Write } from '../transaction.ts';
import {
  createPrivateFile,
  lockWaitMs,
  SqliteConnection,
  type SqliteConnectionOptions,
  sqliteDialect,
  sqliteResultCode,
} from './sqlite-connection.ts';
import { SqliteWriter, type WriterThread } from './sqlite-writer.ts';

/** Options for opening an SQLite database. */
export interface SqliteStorageOptions {
  /** Path of the SQLite file, or `:memory:`. */
  readonly file: string;
  /** Maximum bytes of the file; beyond it writes fail with 503. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** Creates the recording of a database in memory. */
  readonly createRecording: (database: Kysely<Tables>) => CachedRecording;
  /** Returns the thread that writes to the file by a connection with these options, and that records events. */
  readonly writerThread: (connection: SqliteConnectionOptions) => WriterThread;
  /** Called with each slow step of the opening. */
  readonly onProgress?: Progress | undefined;
}

/** SQLite's result code for a file that another process is writing: `SQLITE_BUSY`. */
const busyCode = 5;

/** Polling interval for commits of other processes, in milliseconds, while requests wait. */
const pollIntervalMs = 200;

/**
 * An SQLite database: one connection writes in a separate thread and one reads in this thread. An in-memory database has
 * one connection for both. Several processes on one machine may share the file.
 */
export class SqliteStorage implements Storage {
  readonly isShared = false;
  readonly #file: string;
  readonly #reads: Kysely<Tables>;
  readonly #writes: Kysely<Tables>;
  readonly #reader: SqliteConnection;
  /** Recording of a database in memory; for a file, the writer thread has one. */
  readonly #recording: CachedRecording | undefined;
  /** The thread that writes; `undefined` in memory. */
  readonly #writer: SqliteWriter | undefined;

  private constructor({ file, maxBytes, createRecording, writerThread }: SqliteStorageOptions) {
    this.#file = file;
    if (file === ':memory:') {
      this.#reader = new SqliteConnection({ file, writes: true, maxBytes });
      this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
      this.#reads = this.#writes;
      this.#recording = createRecording(this.#writes);
      return;
    }
    createPrivateFile(file);
    // Before the thread, which nothing would end if the file cannot be opened.
    this.#reader = new SqliteConnection({ file, writes: false });
    this.#reads = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
    // The thread opens it later, when the folder of the process may be another.
    this.#writer = new SqliteWriter(writerThread({ file: resolve(file), writes: true, maxBytes }));
    this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.#writer) });
  }

  /** Opens the file and applies missing migrations. @throws when it cannot be opened or has a newer version. */
  static async open(options: SqliteStorageOptions): Promise<SqliteStorage> {
    let storage: SqliteStorage | undefined;
    try {
      storage = new SqliteStorage(options);
      await storage.#migrate(options.onProgress);
      // The first commit created the log, so the reader can now remember its identity.
      storage.#reader.assertSameFile();
      return storage;
    } catch (error) {
      await storage?.close();
      // Only errors of SQLite itself lack the name of the database.
      if (!(error instanceof Error && 'errcode' in error)) throw error;
      throw new Error(`${options.file} cannot be opened: ${error.message}`, { cause: error });
    }
  }

  /** Applies missing migrations. Waits without a limit for another process, which may be migrating a large file. */
  async #migrate(onProgress: Progress = () => {}): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#writes.transaction().execute((db) => migrate(db, sqliteMigrations, onProgress));
        return;
      } catch (error) {
        if (sqliteResultCode(error) !== busyCode) throw error;
        if (attempt === 1) onProgress('waiting for another process that writes to the database');
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

  record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    return this.#withRecording((recording) => recording.record(groups));
  }

  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog> {
    return this.#withRecording((recording) => recording.scoreSessions(behind));
  }

  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined> {
    return this.#withRecording((recording) => recording.appendToLog(tenantId, options));
  }

  /** Runs `work` with the recording: in memory, or in the thread that writes, between its transactions. */
  #withRecording<Result>(
    work: (recording: Omit<CachedRecording, 'forget'>) => Promise<Result>,
  ): Promise<Result> {
    if (this.#recording) return work(this.#recording);
    return this.#writes.connection().execute(() => work(this.#writer as SqliteWriter));
  }

  clearSessionCache(): void {
    this.#recording?.forget();
  }

  watch(onChange: (actionId: undefined) => void): () => void {
    let lastMark: string | undefined;
    let isPolling = false;
    const poll = async (): Promise<void> => {
      if (isPolling) return;
      isPolling = true;
      try {
        const mark = await this.#changeMark();
        // The first mark always notifies, to cover commits made before it.
        if (mark !== lastMark) onChange(undefined);
        lastMark = mark;
      } catch {
        // A waiting request fails when it reads.
      } finally {
        isPolling = false;
      }
    };
    void poll();
    const timer = setInterval(() => void poll(), pollIntervalMs);
    timer.unref();
    return () => clearInterval(timer);
  }

  /**
   * Returns a mark that changes when another process has committed, or any process has changed policies. It queries the
   * writing connection, because for any other connection each event of this process is a change.
   */
  async #changeMark(): Promise<string> {
    const { rows } = await (this.#writer ?? this.#reader).execute('pragma data_version', []);
    const settings = this.#reader.execute('select sum(settings_version) as version from tenants', []).rows;
    return JSON.stringify([rows, settings]);
  }

  async assertListening(): Promise<void> {}

  async truncateLog(): Promise<void> {
    const writer = this.#writer;
    if (!writer) return;
    await this.#writes.connection().execute(async () => {
      // All writes wait for this checkpoint, so it does not wait for readers.
      await writer.execute('pragma busy_timeout = 0', []);
      try {
        await writer.execute('pragma wal_checkpoint(truncate)', []);
      } finally {
        await writer.execute(`pragma busy_timeout = ${lockWaitMs}`, []);
      }
    });
  }

  async probe(): Promise<void> {
    this.#writer?.assertAlive();
    this.#reader.assertSameFile();
    // A statement without a table would succeed without reading the file.
    await this.#reads.selectFrom('tenants').select('id').limit(1).execute();
  }

  backup(file: string): Promise<void> {
    // A separate connection does not block others. In memory there is only one.
    if (this.#writer) return backUp(this.#file, file);
    return this.#writes.connection().execute(() => copyInto(this.#reader, file));
  }

  async close(): Promise<void> {
    await this.#writes.destroy();
    await this.#reads.destroy();
    // Kysely closes the connection only if it was used.
    this.#reader.close();
    await this.#writer?.close();
  }
}
