import { Kysely, sql } from 'kysely';
import type { EventGroup, RecordedGroups, Settled } from '../ingest/event-recorder.ts';
import { Recording } from '../ingest/recording.ts';
import { SqliteWriter } from '../sqlite-writer.ts';
import { migrate } from './migrate.ts';
import type { Tables } from './schema.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { commit, type Database, type Write } from './transaction.ts';

/** Where the data lives. */
export interface StorageOptions {
  /** Path of the SQLite file, or `:memory:`. */
  readonly file: string;
  /** Bytes that the file may grow to; beyond it writes are refused with 503. Unbounded when left out. */
  readonly maxBytes?: number | undefined;
}

/**
 * The database. On a file, one connection writes in a thread of its own and one reads in this thread; in memory
 * there is one for both. Every read and write names the tenant it is for, so that a database with row-level
 * security can be told.
 */
export class Storage {
  readonly #reads: Kysely<Tables>;
  readonly #writes: Kysely<Tables>;
  readonly #reader: SqliteConnection;
  /** Used in memory only; on a file the writer's thread has its own. */
  readonly #recording: Recording;
  /** The thread that writes; undefined in memory. */
  readonly writer: SqliteWriter | undefined;

  private constructor({ file, maxBytes }: StorageOptions) {
    if (file === ':memory:') {
      this.#reader = new SqliteConnection({ file, writes: true, maxBytes });
      this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
      this.#reads = this.#writes;
      this.#recording = new Recording(this.#writes);
      return;
    }
    this.writer = new SqliteWriter({ file, writes: true, maxBytes });
    this.#writes = new Kysely<Tables>({ dialect: sqliteDialect(this.writer) });
    this.#reader = new SqliteConnection({ file, writes: false });
    this.#reads = new Kysely<Tables>({ dialect: sqliteDialect(this.#reader) });
    this.#recording = new Recording(this.#writes);
  }

  /** Opens the database and brings its tables up to date. @throws when the file cannot be opened or is newer. */
  static async open(options: StorageOptions): Promise<Storage> {
    const storage = new Storage(options);
    try {
      await migrate(storage.#writes);
    } catch (error) {
      await storage.close();
      throw error;
    }
    return storage;
  }

  /** Runs `work` on one consistent state of the tenant's data. Never call it inside `write`. */
  read<Result>(_tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#reads.transaction().execute(work);
  }

  /** Runs `work` in one durable transaction; when it throws, nothing of it stays. */
  async write<Result>(_tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit(this.#writes, work);
  }

  /** As `write`, for work that spans tenants: the group commit, sweeps, provisioning. */
  writeAll<Result>(work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit(this.#writes, work);
  }

  /** As `read`, for lookups that come before a tenant is known. */
  readAll<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#reads.transaction().execute(work);
  }

  /** Records events durably, where the database is written. */
  record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    const { writer } = this;
    if (!writer) return this.#recording.record(groups);
    return this.#writes.connection().execute(() => writer.record(groups));
  }

  /** Scores sessions that wait for it, and those named. */
  settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled> {
    const { writer } = this;
    if (!writer) return this.#recording.settle(behind);
    return this.#writes.connection().execute(() => writer.settle(behind));
  }

  /** Says that sessions were written by another way than `record`. */
  forgetSessions(): void {
    this.#recording.forget();
  }

  /** A number that changes when any process has committed; a cheap way to notice work of another process. */
  changeNumber(): number {
    return this.#reader.dataVersion();
  }

  /** Whether the database answers. @throws when it does not. */
  async probe(): Promise<void> {
    await sql`select 1`.execute(this.#reads);
  }

  /** Copies the whole database, as it is at this moment, into a new file, while others read and write. */
  backup(file: string): void {
    this.#reader.exec(`vacuum into '${file.replaceAll("'", "''")}'`);
  }

  async close(): Promise<void> {
    await this.#writes.destroy();
    await this.#reads.destroy();
    // Kysely closes only what it has used.
    this.#reader.close();
    await this.writer?.close();
  }
}
