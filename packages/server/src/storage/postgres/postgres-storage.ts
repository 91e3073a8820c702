import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import { postgresBackupError } from '../backup.ts';
import { redactedDatabase } from '../database-address.ts';
import type { EventGroup, EventRecording, RecordedGroups, ScoringBacklog } from '../event-recording.ts';
import {
  type Appended,
  type AppendOptions,
  appendedBy,
  appendLogBatch,
  readLogBatch,
} from '../log/tenant-log.ts';
import type { Progress } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import { commit, notificationChannel, type Storage } from '../storage.ts';
import type { CrossTenantWork, Database, Write } from '../transaction.ts';
import { clientConfig, type PoolOptions, PostgresClient, PostgresPool } from './pool.ts';
import { connectError, PostgresError } from './postgres-error.ts';
import { prepareDatabase } from './prepare-database.ts';
import { inTransaction } from './transactions.ts';

/** SQLSTATE of a statement for which the role lacks a privilege. */
const insufficientPrivilege = '42501';

/** Error text for an invalid address. It does not quote the address, which may contain a password. */
const invalidAddressMessage =
  'The address of the PostgreSQL database is invalid. It must name one host; percent-encode characters such as # / ? @ in user and password.';

/** Hint for a role that may not create the tables or use the existing ones. */
const missingPrivilegesHint =
  'the role must own the database and its tables, or their owner must run actlog migrate and grant it select, insert, update and delete on all of them';

/** Options for opening a PostgreSQL database. */
export interface PostgresStorageOptions extends Pick<PoolOptions, 'url' | 'connections'> {
  /** Creates the recording of events in this storage. */
  readonly createRecording: (storage: Storage) => EventRecording;
  /** Called with each slow step of the opening. */
  readonly onProgress?: Progress | undefined;
}

/** A PostgreSQL database, shared by any number of server processes on any number of machines. */
export class PostgresStorage implements Storage {
  readonly isShared = true;
  readonly #pool: PostgresPool;
  readonly #database: Kysely<Tables>;
  readonly #recording: EventRecording;
  readonly #listener: PostgresListener;

  private constructor({
    createRecording,
    ...options
  }: PoolOptions & Pick<PostgresStorageOptions, 'createRecording'>) {
    this.#pool = new PostgresPool(options);
    this.#database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) });
    this.#recording = createRecording(this);
    this.#listener = new PostgresListener(options.url);
  }

  /**
   * Connects and applies missing migrations.
   *
   * @throws Error when the database cannot be reached, was written by a newer release, cannot store every text, or does
   *   not isolate tenants.
   */
  static async open({ onProgress = () => {}, ...options }: PostgresStorageOptions): Promise<PostgresStorage> {
    try {
      await prepareDatabase(options.url, onProgress);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_INVALID_URL')
        throw new TypeError(invalidAddressMessage);
      if (!(error instanceof PostgresError)) throw error;
      const hint = isForbidden(error) ? `; ${missingPrivilegesHint}` : '';
      throw new Error(`${redactedDatabase(options.url)} cannot be opened: ${error.message}${hint}`, {
        cause: error,
      });
    }
    return new PostgresStorage(options);
  }

  read<Result>(tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result> {
    return inTransaction(this.#database, 'read', tenantId, work);
  }

  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit((run) => inTransaction(this.#database, 'write', tenantId, run), work);
  }

  readAcross<Result>(kind: CrossTenantWork, work: (db: Database) => Promise<Result>): Promise<Result> {
    return inTransaction(this.#database, 'read', kind, work);
  }

  writeAcross<Result>(kind: CrossTenantWork, work: (write: Write) => Promise<Result>): Promise<Result> {
    return commit((run) => inTransaction(this.#database, 'write', kind, run), work);
  }

  record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    return this.#recording.record(groups);
  }

  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog> {
    return this.#recording.scoreSessions(behind);
  }

  async appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined> {
    // Entries are computed without a lock: whoever appends first wins, and the other reads again.
    const batch = await this.read(tenantId, (db) => readLogBatch(db, tenantId, options));
    if (!batch) return undefined;
    await this.write(tenantId, ({ db }) => appendLogBatch(db, tenantId, batch));
    return appendedBy(batch);
  }

  clearSessionCache(): void {}

  watch(onChange: (actionId: string | undefined) => void): () => void {
    return this.#listener.watch(onChange);
  }

  async assertListening(): Promise<void> {
    this.#listener.assertListening();
  }

  async truncateLog(): Promise<void> {}

  async probe(): Promise<void> {
    await sql`select 1`.execute(this.#database);
  }

  async backup(): Promise<void> {
    throw postgresBackupError();
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.#database.destroy();
    await this.#pool.end().catch(() => {});
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof PostgresError && error.code === insufficientPrivilege;
}

/** Delay before a lost connection is opened again, in milliseconds: doubles from the first to the last. */
const firstRetryMs = 100;
const lastRetryMs = 5000;

/** Timeout for the `listen` statement, in milliseconds. A pooler without a free connection leaves it unanswered. */
const listenTimeoutMs = 5000;

type OnChange = (actionId: string | undefined) => void;

/**
 * The connection on which this process receives notifications of commits by other processes. It opens with the first
 * watcher and reopens whenever it breaks. After each opening every watcher is notified, to cover missed notifications.
 */
export class PostgresListener {
  readonly #url: string;
  readonly #watchers = new Set<OnChange>();
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #isClosed = false;
  /** Error of the last attempt to connect; `undefined` if it succeeded. */
  #failure: unknown;

  constructor(url: string) {
    this.#url = url;
  }

  /** Calls `onChange` for every notification, until the returned function is called. */
  watch(onChange: OnChange): () => void {
    this.#watchers.add(onChange);
    if (!this.#client && !this.#retry) void this.#connect();
    return () => this.#watchers.delete(onChange);
  }

  /** @throws Error when the last attempt to connect failed, so no notifications arrive. */
  assertListening(): void {
    if (this.#failure === undefined) return;
    const { message } = connectError(this.#failure) as Error;
    throw new Error(
      `The connection for notifications of other servers' decisions cannot be opened (${message}), so waiting checks see these only when their wait ends. PostgreSQL, and any pooler before it, must allow databaseConnections + 1 connections per server.`,
    );
  }

  /** Closes the connection permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    this.#retry = undefined;
    const client = new PostgresClient({
      ...clientConfig(this.#url),
      application_name: 'actlog listener',
      query_timeout: listenTimeoutMs,
    });
    this.#client = client;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload }) => this.#notify(payload === '' ? undefined : payload));
    try {
      await client.connect();
      await client.query(`listen ${notificationChannel}`);
    } catch (error) {
      this.#failure = error;
      this.#lose(client);
      return;
    }
    this.#failure = undefined;
    this.#retryMs = firstRetryMs;
    // Notifications of commits made before the connection listened were missed.
    this.#notify(undefined);
  }

  #notify(actionId: string | undefined): void {
    for (const onChange of [...this.#watchers]) onChange(actionId);
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#retry = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retry.unref();
    this.#retryMs = Math.min(lastRetryMs, this.#retryMs * 2);
  }
}
