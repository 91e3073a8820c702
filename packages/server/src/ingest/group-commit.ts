import { setImmediate, setTimeout } from 'node:timers/promises';
import { ApiError } from '../http/api-error.ts';
import type { Metrics } from '../metrics.ts';
import { QuotaError } from '../quota/quota-error.ts';
import { storageOutage } from '../storage/outage.ts';
import type { EventGroup } from './event-recorder.ts';
import type { EventOutcome, NewEvent, RecordedEvent } from './new-event.ts';

interface Waiting {
  readonly tenantId: number;
  readonly event: NewEvent;
  readonly resolve: (recorded: RecordedEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** What a group commit works with. */
export interface GroupCommitOptions {
  /** Events that may wait; beyond it an event is refused with 503. */
  readonly maxQueued: number;
  readonly metrics: Metrics;
  /** Writes the events in one durable transaction, and says what became of each. */
  commit(groups: readonly EventGroup[]): Promise<readonly (readonly EventOutcome[])[]>;
}

/** Events of one transaction: enough to share its cost, few enough to keep an answer quick. */
const largestGroup = 512;

/** A group of this size shows a load under which the next is worth waiting for: half the commits, half their cost. */
const busyGroup = 16;

/** Milliseconds to wait for the next group under load. */
const gatherMs = 4;

/**
 * Events that arrive together share one transaction; each is answered after the commit. Whatever the event loop
 * took in during the last commit makes the next group, so a group is as large as the load makes it.
 */
export class GroupCommit {
  readonly #maxQueued: number;
  readonly #metrics: Metrics;
  readonly #commitGroups: GroupCommitOptions['commit'];
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#commitGroups = options.commit;
    this.#maxQueued = options.maxQueued;
    this.#metrics = options.metrics;
  }

  /** Events that wait to be stored. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Resolves when the event is durable.
   *
   * @throws QuotaError when the tenant has no room for it; ApiError `OVERLOADED` when too many events wait or the
   * database cannot take it: it is not stored.
   */
  record(tenantId: number, event: NewEvent): Promise<RecordedEvent> {
    if (this.#queue.length >= this.#maxQueued) {
      return Promise.reject(
        new ApiError('OVERLOADED', 'Too many events wait to be stored. Send this one again later.', {
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ tenantId, event, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    let isBusy = false;
    while (this.#queue.length > 0) {
      // At the least, lets the event loop hand over every request that has already arrived.
      await (isBusy ? setTimeout(gatherMs) : setImmediate());
      const group = this.#queue.splice(0, largestGroup);
      isBusy = group.length >= busyGroup;
      await this.#commit(group);
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const byTenant = [...Map.groupBy(group, ({ tenantId }) => tenantId)];
      const outcomes = await this.#commitGroups(
        byTenant.map(([tenantId, members]) => ({ tenantId, events: members.map(({ event }) => event) })),
      );
      let stored = 0;
      byTenant.forEach(([, members], place) => {
        members.forEach((waiting, index) => {
          const outcome = outcomes[place]?.[index] as EventOutcome;
          if ('refused' in outcome) {
            waiting.reject(new QuotaError(outcome.refused, Date.now()));
            return;
          }
          if (outcome.isNew) stored += 1;
          waiting.resolve(outcome);
        });
      });
      this.#metrics.group(group.length, stored);
    } catch (error) {
      if (group.length === 1 || storageOutage(error) !== undefined) {
        for (const waiting of group) waiting.reject(error);
        return;
      }
      // One event that cannot be stored must not take its neighbours with it.
      for (const waiting of group) await this.#commit([waiting]);
    }
  }
}
