import { existsSync } from 'node:fs';
import { EventWriter } from './ingest/event-writer.ts';
import { Recording, recordWithinQuota } from './ingest/recording.ts';
import type { WriterData } from './ingest/sqlite-thread.ts';
import { PolicySets } from './policy/policy-set.ts';
import { QuotaGate } from './quota/quota-gate.ts';
import { type SessionPlace, SharedRisk } from './risk/shared-risk.ts';
import { isPostgresUrl } from './storage/database-address.ts';
import type {
  EventGroup,
  EventOutcome,
  EventRecording,
  RecordedGroups,
  ScoringBacklog,
} from './storage/event-recording.ts';
import type { Progress } from './storage/migrate.ts';
import { PostgresStorage } from './storage/postgres/postgres-storage.ts';
import { SqliteStorage } from './storage/sqlite/sqlite-storage.ts';
import type { Storage } from './storage/storage.ts';
import type { DeploymentQuotas } from './storage/stores/quota-store.ts';
import { writeForTenants } from './storage/write-for-tenants.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';

/** Options for opening a database. */
export interface OpenStorageOptions {
  /** Path of an SQLite file, `:memory:`, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Bytes that an SQLite file may grow to; unbounded when left out. */
  readonly maxBytes?: number | undefined;
  /** Maximum connections of this process to PostgreSQL. Default: 10. */
  readonly connections?: number | undefined;
  /** `true` to fail when the partitions of PostgreSQL cannot be created. */
  readonly needsPartitions?: boolean | undefined;
  /** Quotas of the deployment, for tenants without quotas of their own. */
  readonly quotas?: DeploymentQuotas | undefined;
  /** Called with each slow step of the opening, such as a migration of a large database. */
  readonly onProgress?: Progress | undefined;
}

/** Opens a database and applies missing migrations. @throws Error with the reason when that fails. */
export function openStorage({
  database,
  maxBytes,
  connections = 10,
  needsPartitions,
  quotas = {},
  onProgress,
}: OpenStorageOptions): Promise<Storage> {
  if (isPostgresUrl(database)) {
    const createRecording = (storage: Storage) => new SharedRecording(storage, quotas);
    return PostgresStorage.open({ url: database, connections, needsPartitions, createRecording, onProgress });
  }
  return SqliteStorage.open({
    file: database,
    maxBytes,
    createRecording: (db) => new Recording(db, quotas),
    writerThread: (connection) => {
      const data: WriterData = { ...connection, quotas };
      return { file: threadFile(import.meta.url), data };
    },
    onProgress,
  });
}

/**
 * Returns the file of the writer thread, which is beside the file at `address` both as source and as built.
 *
 * @param address - URL of a file of the root folder; in a bundle another one or none
 * @throws Error if there is no such file
 */
export function threadFile(address: string | undefined): URL {
  const file = URL.parse(`./sqlite-worker.${address?.endsWith('.ts') ? 'ts' : 'js'}`, address);
  if (file && existsSync(file)) return file;
  throw new Error(
    'The thread that writes to a database file needs a separate file, which a bundle does not contain: leave @actlog/server out of the bundle, for example with --external:@actlog/server.',
  );
}

/** The part of the storage that recording uses. */
type SharedStorage = Pick<Storage, 'read' | 'write'>;

/** Number of sessions scored per transaction. */
const scoredPerTransaction = 100;

/** Maximum attempts to score a session whose risk another process stores meanwhile. */
const maxRounds = 4;

/**
 * Recording in a database that other processes write too. Nothing of a session is cached between transactions, because
 * its next event may arrive at another process.
 */
class SharedRecording implements EventRecording {
  readonly #storage: SharedStorage;
  readonly #gate: QuotaGate;
  readonly #outbox = new WebhookOutbox(new PolicySets());
  readonly #risk = new SharedRisk(this.#outbox);
  readonly #writer = new EventWriter({ risk: this.#risk });
  #hasQueuedMessages = false;

  /** @param quotas - those of the deployment */
  constructor(storage: SharedStorage, quotas: DeploymentQuotas) {
    this.#storage = storage;
    this.#gate = new QuotaGate(quotas);
    this.#outbox.onQueued(() => {
      this.#hasQueuedMessages = true;
    });
  }

  /** Records events in one transaction. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    if (groups.length === 0) return { outcomes: [], ...this.#backlog() };
    const outcomes = new Map<EventGroup, EventOutcome[]>();
    let isCommitted = false;
    try {
      await writeForTenants(this.#storage, groups, async (write, group) => {
        const { tenantId, events } = group;
        outcomes.set(group, await recordWithinQuota(this.#writer, this.#gate, write, tenantId, events));
      });
      isCommitted = true;
    } finally {
      this.#risk.endTransaction(isCommitted);
    }
    return { outcomes: groups.map((group) => outcomes.get(group) ?? []), ...this.#backlog() };
  }

  /** Scores the given sessions and some unscored ones. */
  async scoreSessions(behind: readonly SessionPlace[]): Promise<ScoringBacklog> {
    const taken = this.#risk.takeUnscored(scoredPerTransaction);
    try {
      for (const [tenantId, sessions] of Map.groupBy([...behind, ...taken], (place) => place.tenant_id)) {
        await this.#scoreTenant(tenantId, [...new Set(sessions.map(({ id }) => id))]);
      }
    } catch (error) {
      this.#risk.putBack(taken);
      throw error;
    }
    return this.#backlog();
  }

  async #scoreTenant(tenantId: number, sessionIds: readonly string[]): Promise<void> {
    let ids = sessionIds;
    for (let round = 0; round < maxRounds && ids.length > 0; round += 1) {
      const scored = await this.#storage.read(tenantId, (db) => this.#risk.score(db, tenantId, ids));
      if (scored.length === 0) break;
      // The process that stored its score first may have seen fewer events.
      ids = await this.#storage.write(tenantId, (write) => this.#risk.store(write, tenantId, scored));
    }
    await this.#storage.write(tenantId, (write) => this.#risk.share(write, tenantId));
  }

  #backlog(): ScoringBacklog {
    const hasQueuedMessages = this.#hasQueuedMessages;
    this.#hasQueuedMessages = false;
    return { hasQueuedMessages, unscored: this.#risk.unscored, reached: this.#risk.takeReached() };
  }
}
