import { sql } from 'kysely';
import type { EventGroup, RecordedGroups, ScoringBacklog } from './event-recording.ts';
import type { Appended, AppendOptions } from './log/tenant-log.ts';
import { type CrossTenantWork, type Database, isPostgres, type Write } from './transaction.ts';

/**
 * Storage of events, sessions and all other data: an SQLite file, or a PostgreSQL database shared by many processes.
 */
export interface Storage {
  /** `true` if other machines may write too, so that data cached from this process's own writes is incomplete. */
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
 * Notifies all processes, once the transaction commits, that an action was decided. An empty id tells every waiting
 * request to look again. SQLite needs no notification, because each process sees every commit.
 */
export async function notify(db: Database, actionId: string): Promise<void> {
  if (isPostgres(db)) await sql`select pg_notify(${notificationChannel}, ${actionId})`.execute(db);
}
