import { sql } from 'kysely';
import type { EventGroup, RecordedGroups, ScoringBacklog } from './event-recording.ts';
import type { Appended, AppendOptions } from './log/tenant-log.ts';
import { isWriteOutage } from './outage.ts';
import { type CrossTenantWork, type Database, enterScope, isPostgres, type Write } from './transaction.ts';

/**
 * Storage of events, sessions and all other data: an SQLite file, or a PostgreSQL database shared by many processes.
 */
export interface Storage {
  /** `true` if other machines may write too, so that data cached from the writes of this process is incomplete. */
  readonly isShared: boolean;

  /** Runs `work` on one snapshot of the tenant's data. Never call it inside `write`. */
  read<Result>(tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result>;

  /**
   * Runs `work` in one durable transaction, which is rolled back when `work` throws. `work` may run more than once, if
   * the transaction lost to another.
   */
  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result>;

  /** Like `read`, for work across tenants. */
  readAcross<Result>(kind: CrossTenantWork, work: (db: Database) => Promise<Result>): Promise<Result>;

  /** Like `write`, for work across tenants. */
  writeAcross<Result>(kind: CrossTenantWork, work: (write: Write) => Promise<Result>): Promise<Result>;

  /** Records events durably, in the thread that writes. */
  record(groups: readonly EventGroup[]): Promise<RecordedGroups>;

  /** Scores sessions that have unscored events, and the given ones. */
  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog>;

  /**
   * Appends some records that wait to the log of a tenant, in one transaction; on SQLite in the thread that has written
   * them, which need not read them again.
   *
   * @returns `undefined` if none waited
   * @throws LoggedMeanwhile when another process has logged some of them
   */
  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined>;

  /** Drops cached sessions, after a write of sessions by another way than `record`. */
  clearSessionCache(): void;

  /**
   * Calls `onChange` when another process may have changed something that a request waits for, with the id of the
   * decided action if it is known. Returns a function that stops the calls.
   */
  watch(onChange: (actionId: string | undefined) => void): () => void;

  /** Checks that notifications for `watch` arrive. @throws when they do not. */
  assertListening(): Promise<void>;

  /**
   * Removes deleted data from the write-ahead log as well, where the log is a file of this server. Does nothing while
   * another connection is reading or writing.
   */
  truncateLog(): Promise<void>;

  /** Checks that the database can be read. @throws when it cannot. */
  probe(): Promise<void>;

  /** Copies the whole database into a new file. @throws Error when that fails, or when the database is PostgreSQL. */
  backup(file: string): Promise<void>;

  close(): Promise<void>;
}

/** Name of the PostgreSQL channel on which the processes of a deployment notify each other of commits. */
export const notificationChannel = 'actlog';

/**
 * Notifies all processes, once the transaction commits, that an action was decided. With an empty id, every waiting
 * request reads again. SQLite needs no notification, because each process sees every commit.
 */
export async function notify(db: Database, actionId: string): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${notificationChannel}, ${actionId})`.execute(db);
}

/** Runs `work` in one durable transaction, then its effects. */
export async function commit<Result>(
  transaction: (work: (db: Database) => Promise<Result>) => Promise<Result>,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  let effects: (() => void)[] = [];
  const result = await transaction((db) => {
    // A transaction that lost a race runs again; only effects of the last run count.
    effects = [];
    return work({ db, afterCommit: (effect) => effects.push(effect) });
  });
  for (const effect of effects) effect();
  return result;
}

/** Opens durable transactions of a tenant. */
interface TenantWrites {
  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result>;
}

/**
 * Runs `work` for groups of several tenants in one durable transaction, with the tenants in a fixed order so that two
 * transactions cannot deadlock. It may run more than once, as in `Storage.write`.
 */
export async function writeForTenants<Group extends { readonly tenantId: number }>(
  storage: TenantWrites,
  groups: readonly Group[],
  work: (write: Write, group: Group) => Promise<void>,
): Promise<void> {
  const sorted = [...groups].sort((left, right) => left.tenantId - right.tenantId);
  const [first] = sorted;
  if (!first) return;
  await storage.write(first.tenantId, async (write) => {
    for (const group of sorted) {
      if (group !== first && isPostgres(write.db)) await enterScope(write.db, group.tenantId);
      await work(write, group);
    }
  });
}

/** Minimum time between attempts to write while writes fail, in milliseconds, however often readiness is checked. */
const minAttemptIntervalMs = 1000;

/**
 * A storage that remembers a failed write, so that its probe fails until a write succeeds. Only then does the probe
 * write itself, at most once a second.
 */
export class WatchedStorage implements Storage {
  readonly #storage: Storage;
  readonly #log: { wake(): void };
  #failure: unknown;
  #attempt: Promise<void> | undefined;
  #attemptedMs = Number.NEGATIVE_INFINITY;

  /** @param log - woken after each write, but not after the scoring of sessions or the append to a log */
  constructor(storage: Storage, log: { wake(): void }) {
    this.#storage = storage;
    this.#log = log;
  }

  get isShared(): boolean {
    return this.#storage.isShared;
  }

  read<Result>(tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#storage.read(tenantId, work);
  }

  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result> {
    return this.#written(this.#storage.write(tenantId, work));
  }

  readAcross<Result>(kind: CrossTenantWork, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#storage.readAcross(kind, work);
  }

  writeAcross<Result>(kind: CrossTenantWork, work: (write: Write) => Promise<Result>): Promise<Result> {
    return this.#written(this.#storage.writeAcross(kind, work));
  }

  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    const recorded = await this.#written(this.#storage.record(groups));
    this.#failure = undefined;
    return recorded;
  }

  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog> {
    return this.#watched(this.#storage.scoreSessions(behind));
  }

  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined> {
    return this.#watched(this.#storage.appendToLog(tenantId, options));
  }

  clearSessionCache(): void {
    this.#storage.clearSessionCache();
  }

  watch(onChange: (actionId: string | undefined) => void): () => void {
    return this.#storage.watch(onChange);
  }

  assertListening(): Promise<void> {
    return this.#storage.assertListening();
  }

  truncateLog(): Promise<void> {
    return this.#storage.truncateLog();
  }

  async probe(): Promise<void> {
    await this.#storage.probe();
    if (this.#failure === undefined) return;
    const nowMs = performance.now();
    if (!this.#attempt && nowMs - this.#attemptedMs >= minAttemptIntervalMs) {
      this.#attemptedMs = nowMs;
      this.#attempt = this.#attemptWrite().finally(() => {
        this.#attempt = undefined;
      });
    }
    await this.#attempt;
    if (this.#failure !== undefined) throw this.#failure;
  }

  backup(file: string): Promise<void> {
    return this.#storage.backup(file);
  }

  close(): Promise<void> {
    return this.#storage.close();
  }

  async #written<Result>(write: Promise<Result>): Promise<Result> {
    const result = await this.#watched(write);
    this.#log.wake();
    return result;
  }

  async #watched<Result>(write: Promise<Result>): Promise<Result> {
    try {
      return await write;
    } catch (error) {
      if (isWriteOutage(error)) this.#failure = error;
      throw error;
    }
  }

  async #attemptWrite(): Promise<void> {
    await this.#storage.writeAcross('administer', ({ db }) => writeProbe(db));
    this.#failure = undefined;
  }
}

/** Writes some pages and leaves the data unchanged. A write that changes no page would succeed on a full disk. */
async function writeProbe(db: Database): Promise<void> {
  if (isPostgres(db)) {
    await sql`update tenants set name = name where id = (select min(id) from tenants)`.execute(db);
    return;
  }
  await sql`create table readiness_probe (content blob)`.execute(db);
  await sql`insert into readiness_probe values (zeroblob(65536))`.execute(db);
  await sql`drop table readiness_probe`.execute(db);
}
