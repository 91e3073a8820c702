import type { Kysely } from 'kysely';
import { keepNewest } from '../lib/keep-newest.ts';
import { PolicySets } from '../policy/policy-set.ts';
import { RiskKeeper } from '../risk/risk-keeper.ts';
import { type SessionPlace, SharedRisk } from '../risk/shared-risk.ts';
import type {
  CachedRecording,
  EventGroup,
  EventOutcome,
  EventRecording,
  NewEvent,
  ReachedLevels,
  RecordedEvent,
  RecordedGroups,
  ScoringBacklog,
} from '../storage/event-recording.ts';
import {
  type Appended,
  type AppendOptions,
  appendedBy,
  appendLogBatch,
  readLogBatch,
} from '../storage/log/tenant-log.ts';
import type { Tables } from '../storage/schema.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import { commit, type Storage, writeForTenants } from '../storage/storage.ts';
import { RecentEvents } from '../storage/stores/event-log.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Write } from '../storage/transaction.ts';
import { type Admission, QuotaGate } from '../tenants/quotas.ts';
import { WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import { EventWriter } from './event-writer.ts';

/** Maximum number of unscored sessions; beyond it each write scores some. */
const maxUnscored = 2000;

/** Number of sessions scored per transaction when many wait. */
const scoredPerTransaction = 100;

/** Options for recording. */
export interface RecordingOptions {
  /** Quotas of the deployment, for tenants that have none. */
  readonly quotas?: DeploymentQuotas | undefined;
  /** `false` if a history finds events by agent, tool and hash, which then cost no entries for it. Default: `true` */
  readonly isIndexed?: boolean | undefined;
}

/**
 * Recording in a database with a single writing thread: the transactions of the group commit and of scoring, with
 * caches that last between them.
 */
export class Recording implements CachedRecording {
  readonly #database: Kysely<Tables>;
  readonly #sessions = new SessionCache();
  readonly #recent = new RecentEvents();
  readonly #risk: RiskKeeper;
  readonly #writer: EventWriter;
  readonly #gate: QuotaGate;
  readonly #onBegin: () => void;
  #hasQueuedMessages = false;
  #reached: ReachedLevels = {};

  /**
   * @param onBegin - called at the begin of each transaction, when no other process can write any more, to drop caches
   *   that another process has outdated
   */
  constructor(
    database: Kysely<Tables>,
    { quotas = {}, isIndexed = true }: RecordingOptions = {},
    onBegin: () => void = () => {},
  ) {
    this.#database = database;
    this.#gate = new QuotaGate(quotas);
    this.#onBegin = onBegin;
    const outbox = new WebhookOutbox(new PolicySets());
    outbox.onQueued(() => {
      this.#hasQueuedMessages = true;
    });
    this.#risk = new RiskKeeper(outbox);
    const caches = { sessions: this.#sessions, recent: this.#recent, risk: this.#risk };
    this.#writer = new EventWriter({ ...caches, isIndexed });
  }

  /** Drops all caches, as after a write of sessions by another way. */
  forget(): void {
    this.#sessions.clear();
    this.#recent.clear();
    this.#risk.clear();
  }

  /** Records events in one transaction. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    const outcomes = await this.#commit(async (write) => {
      const recorded: EventOutcome[][] = [];
      for (const { tenantId, events } of groups) {
        recorded.push(await recordWithinQuota(this.#writer, this.#gate, write, tenantId, events));
      }
      if (this.#risk.unscored > maxUnscored) await this.#risk.scoreSome(write, scoredPerTransaction);
      return recorded;
    });
    return { outcomes, ...this.#backlog() };
  }

  /** Scores some unscored sessions; or, if sessions are given, all unscored ones and those. */
  async scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog> {
    await this.#commit((write) =>
      behind.length > 0
        ? this.#risk.catchUp(write, behind)
        : this.#risk.scoreSome(write, scoredPerTransaction),
    );
    return this.#backlog();
  }

  /** Appends to the log of a tenant what this recording has written, and what else waits in the database. */
  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined> {
    return commit(
      (run) => this.#database.transaction().execute(run),
      async ({ db }) => {
        this.#onBegin();
        const batch = await readLogBatch(db, tenantId, { ...options, recent: this.#recent });
        if (!batch) return undefined;
        await appendLogBatch(db, tenantId, batch);
        return appendedBy(batch);
      },
    );
  }

  async #commit<Result>(work: (write: Write) => Promise<Result>): Promise<Result> {
    this.#hasQueuedMessages = false;
    try {
      const result = await commit<Result>(
        (run) => this.#database.transaction().execute(run),
        (write) => {
          this.#onBegin();
          return work(write);
        },
      );
      this.#reached = this.#risk.committed();
      return result;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  #backlog(): ScoringBacklog {
    return {
      hasQueuedMessages: this.#hasQueuedMessages,
      unscored: this.#risk.unscored,
      reached: this.#reached,
    };
  }
}

/** The part of the storage that recording uses. */
type SharedStorage = Pick<Storage, 'read' | 'write'>;

/** Maximum attempts to score a session whose risk another process stores meanwhile. */
const maxRounds = 4;

/**
 * Recording in a database that other processes write too. Nothing of a session is cached between transactions, because
 * its next event may arrive at another process.
 */
export class SharedRecording implements EventRecording {
  readonly #storage: SharedStorage;
  readonly #gate: QuotaGate;
  readonly #outbox = new WebhookOutbox(new PolicySets());
  readonly #risk = new SharedRisk(this.#outbox);
  readonly #writer: EventWriter;
  #hasQueuedMessages = false;

  constructor(storage: SharedStorage, { quotas = {}, isIndexed = true }: RecordingOptions) {
    this.#storage = storage;
    this.#writer = new EventWriter({ risk: this.#risk, isIndexed });
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

/** Writes the events of a tenant that its quotas allow. The outcome of each other event names the exceeded quota. */
async function recordWithinQuota(
  eventWriter: EventWriter,
  gate: QuotaGate,
  write: Write,
  tenantId: number,
  events: readonly NewEvent[],
): Promise<EventOutcome[]> {
  const nowMs = Date.now();
  const { refusals, agents } = await gate.admit(write.db, tenantId, events, nowMs);
  if (!refusals) return eventWriter.write(write, tenantId, events, nowMs, agents);
  const admitted = events.filter((_, index) => refusals[index] === undefined);
  const recorded =
    admitted.length > 0 ? await eventWriter.write(write, tenantId, admitted, nowMs, agents) : [];
  return inOrder(refusals, recorded);
}

function inOrder(
  refusals: NonNullable<Admission['refusals']>,
  recorded: readonly RecordedEvent[],
): EventOutcome[] {
  let next = 0;
  return refusals.map((refused) => {
    if (refused) return { refused };
    next += 1;
    return recorded[next - 1] as RecordedEvent;
  });
}

/** Maximum number of cached sessions. */
const maxSessions = 4096;

/**
 * Cache of the summaries of recently written sessions, so that the next event of a session needs no read. Its user must
 * know of every other write to sessions, and clear the cache after it.
 */
class SessionCache {
  readonly #summaries = new Map<string, SessionSummary>();

  /** Returns the summary that was last put, or `undefined` if it is not cached. */
  get(tenantId: number, id: string): SessionSummary | undefined {
    return this.#summaries.get(`${tenantId} ${id}`);
  }

  /** Caches a summary that is about to be committed. After a failed commit the cache must be cleared. */
  put(tenantId: number, summary: SessionSummary): void {
    keepNewest(this.#summaries, `${tenantId} ${summary.id}`, summary, maxSessions);
  }

  clear(): void {
    this.#summaries.clear();
  }
}
