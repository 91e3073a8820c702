import { Kysely, PostgresDialect, sql } from 'kysely';
import { postgresBackupError } from '../backup.ts';
import { redactedDatabase } from '../database-address.ts';
import type { EventGroup, EventRecording, RecordedGroups, ScoringBacklog } from '../event-recording.ts';
import type { Progress } from '../progress.ts';
import type { Tables } from '../schema.ts';
import type { CrossTenantWork, Storage } from '../storage.ts';
import { commit, type Database, type Write } from '../transaction.ts';
import { PostgresListener } from './listener.ts';
import { maintainPartitions } from './partitions.ts';
import { type PoolOptions, PostgresPool } from './pool.ts';
import { isLockTimeout, PostgresError } from './postgres-error.ts';
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
  /**
   * `true` to fail when partitions cannot be created. A server starts without them: until they exist, events go to the
   * default partition.
   */
  readonly needsPartitions?: boolean | undefined;
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
  static async open({
    needsPartitions = false,
    onProgress = () => {},
    ...options
  }: PostgresStorageOptions): Promise<PostgresStorage> {
    try {
      await prepareDatabase(options.url, (error) => !needsPartitions && canPostpone(error), onProgress);
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

  clearSessionCache(): void {}

  watch(onChange: (actionId: string | undefined) => void): () => void {
    return this.#listener.watch(onChange);
  }

  async assertListening(): Promise<void> {
    this.#listener.assertListening();
  }

  async maintain(nowMs: number): Promise<void> {
    try {
      await this.writeAcross('partition', ({ db }) => maintainPartitions(db, nowMs));
    } catch (error) {
      // A role that may not create tables leaves partitions to a role that may.
      if (!isForbidden(error)) throw error;
    }
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

/** `true` if partitions can be created later: by another role, or once a running backup releases its locks. */
function canPostpone(error: unknown): boolean {
  return isForbidden(error) || isLockTimeout(error);
}
