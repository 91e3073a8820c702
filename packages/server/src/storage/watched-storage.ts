import { sql } from 'kysely';
import type { EventGroup, RecordedGroups, ScoringBacklog } from './event-recording.ts';
import type { Appended, AppendOptions } from './log/tenant-log.ts';
import { isWriteOutage } from './outage.ts';
import type { Storage } from './storage.ts';
import { type CrossTenantWork, type Database, isPostgres, type Write } from './transaction.ts';

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
