import type { EventGroup, RecordedGroups, Settled } from '../ingest/event-recorder.ts';
import type { Database, Write } from './transaction.ts';

/**
 * Work that knows no tenant yet, or spans all of them. Each kind opens, beside row-level security, only what it
 * needs: `authenticate` reads API keys; `administer` has tenants and API keys; `sweep` finds what is due in any
 * tenant, leases deliveries and drops what is past its time; `partition` moves events between partitions.
 */
export type CrossTenantWork = 'authenticate' | 'administer' | 'sweep' | 'partition';

/** Where events, sessions and all else is kept: an SQLite file, or a PostgreSQL that many processes share. */
export interface Storage {
  /** Whether other machines may write too, so that what this process remembers of its own writes is not all. */
  readonly isShared: boolean;

  /** Runs `work` on one consistent state of the tenant's data. Never call it inside `write`. */
  read<Result>(tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result>;

  /**
   * Runs `work` in one durable transaction; when it throws, nothing of it stays. It may run more than once, when the
   * transaction lost against another.
   */
  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result>;

  /** As `read`, for work across tenants. */
  readAcross<Result>(kind: CrossTenantWork, work: (db: Database) => Promise<Result>): Promise<Result>;

  /** As `write`, for work across tenants. */
  writeAcross<Result>(kind: CrossTenantWork, work: (write: Write) => Promise<Result>): Promise<Result>;

  /** Records events durably, where the database is written. */
  record(groups: readonly EventGroup[]): Promise<RecordedGroups>;

  /** Scores sessions that wait for it, and those named. */
  settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled>;

  /** Says that sessions were written by another way than `record`. */
  forgetSessions(): void;

  /**
   * Calls `onChange` when another process may have changed something that is waited for: with the id of an action
   * when that is known to have been decided. Returns what ends it.
   */
  watch(onChange: (actionId: string | undefined) => void): () => void;

  /** Whether what `watch` tells of arrives. @throws when it does not. */
  requireHearing(): Promise<void>;

  /** Makes ready what the next weeks need, and drops what is empty for good. */
  maintain(nowMs: number): Promise<void>;

  /**
   * Takes what was deleted out of the log of the latest commits, too, where it is a file of the server's own. One that
   * somebody reads or writes at the moment is left for another time.
   */
  emptyLog(): Promise<void>;

  /** Whether the database answers. @throws when it does not. */
  probe(): Promise<void>;

  /** Copies the whole database into a new file. @throws Error when that cannot be done, or the database has its own way. */
  backup(file: string): Promise<void>;

  close(): Promise<void>;
}
