import { PolicySets } from '../policy/policy-set.ts';
import { type SessionPlace, SharedRisk } from '../risk/shared-risk.ts';
import { enterScope } from '../storage/postgres/scope.ts';
import type { Storage } from '../storage/storage.ts';
import { Outbox } from '../webhooks/outbox.ts';
import { type EventGroup, EventRecorder, type RecordedGroups, type Settled } from './event-recorder.ts';
import type { EventOutcome } from './new-event.ts';
import { recordWithinQuota } from './record-within-quota.ts';

/** What the recording needs of the storage. */
export type SharedStorage = Pick<Storage, 'read' | 'write'>;

/** Sessions that one transaction scores. */
const settledInOneGo = 100;

/** Times that a session is scored anew because another process stored its risk meanwhile. */
const mostRounds = 4;

/**
 * Recording into a database that other processes write to: nothing of a session is remembered between transactions,
 * because the next event of it may come through another process.
 */
export class SharedRecording {
  readonly #storage: SharedStorage;
  readonly #outbox = new Outbox(new PolicySets());
  readonly #risk = new SharedRisk(this.#outbox);
  readonly #recorder = new EventRecorder({ risk: this.#risk });
  #leftMessages = false;

  constructor(storage: SharedStorage) {
    this.#storage = storage;
    this.#outbox.onQueued(() => {
      this.#leftMessages = true;
    });
  }

  /** Records events in one transaction, the tenants in one order so that two cannot wait for each other. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    const sorted = [...groups].sort((left, right) => left.tenantId - right.tenantId);
    const [first] = sorted;
    if (!first) return { outcomes: [], ...this.#left() };
    const outcomes = new Map<EventGroup, EventOutcome[]>();
    let isCommitted = false;
    try {
      await this.#storage.write(first.tenantId, async (write) => {
        for (const group of sorted) {
          if (group !== first) await enterScope(write.db, group.tenantId);
          const outcome = await recordWithinQuota(this.#recorder, write, group.tenantId, group.events);
          outcomes.set(group, outcome);
        }
      });
      isCommitted = true;
    } finally {
      this.#risk.endTransaction(isCommitted);
    }
    return { outcomes: groups.map((group) => outcomes.get(group) ?? []), ...this.#left() };
  }

  /** Scores the sessions that are named and some of those that wait. */
  async settle(behind: readonly SessionPlace[]): Promise<Settled> {
    const taken = this.#risk.takeUnsettled(settledInOneGo);
    try {
      for (const [tenantId, sessions] of Map.groupBy([...behind, ...taken], (place) => place.tenant_id)) {
        await this.#settleTenant(tenantId, [...new Set(sessions.map(({ id }) => id))]);
      }
    } catch (error) {
      this.#risk.putBack(taken);
      throw error;
    }
    return this.#left();
  }

  async #settleTenant(tenantId: number, sessionIds: readonly string[]): Promise<void> {
    let ids = sessionIds;
    for (let round = 0; round < mostRounds && ids.length > 0; round += 1) {
      const scored = await this.#storage.read(tenantId, (db) => this.#risk.score(db, tenantId, ids));
      if (scored.length === 0) break;
      // Who was faster may have seen less.
      ids = await this.#storage.write(tenantId, (write) => this.#risk.store(write, tenantId, scored));
    }
    await this.#storage.write(tenantId, (write) => this.#risk.share(write, tenantId));
  }

  #left(): Settled {
    const leftMessages = this.#leftMessages;
    this.#leftMessages = false;
    return { leftMessages, unsettled: this.#risk.unsettled };
  }
}
