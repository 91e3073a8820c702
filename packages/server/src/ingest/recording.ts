import type { Kysely } from 'kysely';
import { PolicySets } from '../policy/policy-set.ts';
import { RiskKeeper } from '../risk/risk-keeper.ts';
import type { Tables } from '../storage/schema.ts';
import { commit, type Write } from '../storage/transaction.ts';
import { Outbox } from '../webhooks/outbox.ts';
import { type EventGroup, EventRecorder, type RecordedGroups, type Settled } from './event-recorder.ts';
import type { EventOutcome } from './new-event.ts';
import { recordWithinQuota } from './record-within-quota.ts';
import { SessionCache } from './session-cache.ts';

/** Sessions that may wait to be scored; beyond it each write scores some of them. */
const maxUnsettled = 2000;

/** Sessions that are scored in one go when many wait. */
const settledInOneGo = 100;

/**
 * Recording where one thread alone writes the database: the transactions of the group commit and of scoring, with
 * what is kept at hand between them.
 */
export class Recording {
  readonly #database: Kysely<Tables>;
  readonly #sessions = new SessionCache();
  readonly #risk: RiskKeeper;
  readonly #recorder: EventRecorder;
  readonly #onBegin: () => void;
  #leftMessages = false;

  /**
   * @param onBegin - called in each transaction that has just begun, when nobody else can write any more: the moment to
   * forget what another process has changed
   */
  constructor(database: Kysely<Tables>, onBegin: () => void = () => {}) {
    this.#database = database;
    this.#onBegin = onBegin;
    const outbox = new Outbox(new PolicySets());
    outbox.onQueued(() => {
      this.#leftMessages = true;
    });
    this.#risk = new RiskKeeper(outbox);
    this.#recorder = new EventRecorder({ sessions: this.#sessions, risk: this.#risk });
  }

  /** Forgets what is at hand, as after a write to sessions that went past it. */
  forget(): void {
    this.#sessions.clear();
    this.#risk.clear();
  }

  /** Records events in one transaction. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    const outcomes = await this.#commit(async (write) => {
      const recorded: EventOutcome[][] = [];
      for (const { tenantId, events } of groups) {
        recorded.push(await recordWithinQuota(this.#recorder, write, tenantId, events));
      }
      if (this.#risk.unsettled > maxUnsettled) await this.#risk.settle(write, settledInOneGo);
      return recorded;
    });
    return { outcomes, ...this.#left() };
  }

  /** Scores some of the sessions that wait for it; or, when sessions are named, all that wait and those. */
  async settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled> {
    await this.#commit((write) =>
      behind.length > 0 ? this.#risk.catchUp(write, behind) : this.#risk.settle(write, settledInOneGo),
    );
    return this.#left();
  }

  async #commit<Result>(work: (write: Write) => Promise<Result>): Promise<Result> {
    this.#leftMessages = false;
    try {
      const result = await commit<Result>(
        (run) => this.#database.transaction().execute(run),
        (write) => {
          this.#onBegin();
          return work(write);
        },
      );
      this.#risk.committed();
      return result;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  #left(): Settled {
    return { leftMessages: this.#leftMessages, unsettled: this.#risk.unsettled };
  }
}
