import { PolicySets } from '../policy/policy-set.ts';
import { QuotaGate } from '../quota/quota-gate.ts';
import { type SessionPlace, SharedRisk } from '../risk/shared-risk.ts';
import type {
  EventGroup,
  EventOutcome,
  EventRecording,
  RecordedGroups,
  ScoringBacklog,
} from '../storage/event-recording.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { writeForTenants } from '../storage/write-for-tenants.ts';
import { WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import { EventWriter } from './event-writer.ts';
import { recordWithinQuota } from './record-within-quota.ts';

/** The part of the storage that recording uses. */
export type SharedStorage = Pick<Storage, 'read' | 'write'>;

/** Number of sessions scored per transaction. */
const scoredPerTransaction = 100;

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
