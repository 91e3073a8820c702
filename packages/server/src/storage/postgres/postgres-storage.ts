import { Kysely, PostgresDialect, sql } from 'kysely';
import type { EventGroup, RecordedGroups, Settled } from '../../ingest/event-recorder.ts';
import { SharedRecording } from '../../ingest/shared-recording.ts';
import { hasItsOwnWays } from '../backup.ts';
import { shownDatabase } from '../database-address.ts';
import type { Progress } from '../progress.ts';
import type { Tables } from '../schema.ts';
import type { CrossTenantWork, Storage } from '../storage.ts';
import { commit, type Database, type Write } from '../transaction.ts';
import { PostgresListener } from './listener.ts';
import { keepPartitions } from './partitions.ts';
import { type PoolOptions, PostgresPool } from './pool.ts';
import { isLockTaken, PostgresError } from './postgres-error.ts';
import { prepareDatabase } from './prepare-database.ts';
import { inTransaction } from './transactions.ts';

/** SQLSTATE of a statement that the role may not run. */
const insufficientPrivilege = '42501';

/** Said of an address without a word of it: it may hold a password. */
const noAddress =
  'The address of the PostgreSQL database is not valid. It names one host; in a user and a password, characters such as # / ? @ have to be percent-encoded.';

/** Said of a role that may not make the tables, or not use those that are there. */
const missingRights =
  'the role has to own the database and its tables, or their owner has to run actlog-server migrate and grant it select, insert, update and delete on all of them';

/** How a PostgreSQL database is opened. */
export interface PostgresStorageOptions extends Pick<PoolOptions, 'url' | 'connections'> {
  /**
   * Whether to fail when the partitions cannot be made ready. A server starts without: until they are, events go
   * into the default partition.
   */
  readonly needsPartitions?: boolean | undefined;
  /** Is told what of the opening takes long. */
  readonly tell?: Progress | undefined;
}

/** A PostgreSQL database that any number of server processes share, on any number of machines. */
export class PostgresStorage implements Storage {
  readonly isShared = true;
  readonly #pool: PostgresPool;
  readonly #database: Kysely<Tables>;
  readonly #recording: SharedRecording;
  readonly #listener: PostgresListener;

  private constructor(options: PoolOptions) {
    this.#pool = new PostgresPool(options);
    this.#database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) });
    this.#recording = new SharedRecording(this);
    this.#listener = new PostgresListener(options.url);
  }

  /**
   * Connects and brings the tables up to date.
   *
   * @throws Error when the database cannot be reached, is newer, cannot hold every text, or would not keep tenants apart.
   */
  static async open({
    needsPartitions = false,
    tell = () => {},
    ...options
  }: PostgresStorageOptions): Promise<PostgresStorage> {
    try {
      await prepareDatabase(options.url, (error) => !needsPartitions && canWait(error), tell);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_INVALID_URL') throw new TypeError(noAddress);
      if (!(error instanceof PostgresError)) throw error;
      const hint = isForbidden(error) ? `; ${missingRights}` : '';
      throw new Error(`${shownDatabase(options.url)} cannot be opened: ${error.message}${hint}`, {
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

  settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled> {
    return this.#recording.settle(behind);
  }

  forgetSessions(): void {}

  watch(onChange: (actionId: string | undefined) => void): () => void {
    return this.#listener.watch(onChange);
  }

  async requireHearing(): Promise<void> {
    this.#listener.requireHearing();
  }

  async maintain(nowMs: number): Promise<void> {
    try {
      await this.writeAcross('partition', ({ db }) => keepPartitions(db, nowMs));
    } catch (error) {
      // A role that may not make tables leaves that to who may.
      if (!isForbidden(error)) throw error;
    }
  }

  async emptyLog(): Promise<void> {}

  async probe(): Promise<void> {
    await sql`select 1`.execute(this.#database);
  }

  async backup(): Promise<void> {
    throw hasItsOwnWays();
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

/** Whether the partitions are for who may make tables, or for when a backup that runs lets go of them. */
function canWait(error: unknown): boolean {
  return isForbidden(error) || isLockTaken(error);
}
