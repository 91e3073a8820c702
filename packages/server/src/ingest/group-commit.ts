import { setImmediate, setTimeout } from 'node:timers/promises';
import { ApiError } from '../lib/api-error.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RiskScoring } from '../risk/risk-scoring.ts';
import type { EventOutcome, NewEvent, RecordedEvent } from '../storage/event-recording.ts';
import { storageOutage } from '../storage/outage.ts';
import type { Storage } from '../storage/storage.ts';
import { QuotaError } from '../tenants/quotas.ts';

interface Waiting {
  readonly tenantId: number;
  readonly event: NewEvent;
  readonly memoryBytes: number;
  readonly resolve: (recorded: RecordedEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** Options for {@link GroupCommit}. */
export interface GroupCommitOptions {
  /** Maximum number of waiting events; further ones are rejected with 503. */
  readonly maxQueued: number;
  readonly metrics: Metrics;
  /**
   * Milliseconds to wait for more events after a commit under load. Worthwhile where a commit costs about the same for
   * one event as for hundreds, as over a network. 0 starts the next commit at once.
   */
  readonly gatherMs: number;
  readonly storage: Pick<Storage, 'record'>;
  /** Scores the sessions of the events later. */
  readonly scoring: Pick<RiskScoring, 'after'>;
}

/** Maximum events per transaction: enough to share its cost, few enough to respond quickly. */
const maxGroupSize = 512;

/**
 * Maximum memory for the events of one transaction, in bytes. Events are in memory several times, as text for the
 * database and as rows.
 */
const maxGroupBytes = 4 * 1024 * 1024;

/**
 * Maximum turns of the event loop for which a group waits for arriving events. Waiting for all of them leaves the
 * database idle; waiting for none makes small groups, each with the cost of a commit.
 */
const arrivalTurns = 4;

/** Size up to which a group is not divided, because each part would pay more for its commit than it gains. */
const undividedSize = 24;

/** Group size that indicates a load under which more events arrive at once. */
const busyGroupSize = 16;

/**
 * Commits events that arrive together in one transaction, and resolves each after the commit. Events that arrive during
 * a commit form the next group, so the size of groups follows the load. Callers of one group are resolved while the
 * next is being written, so that neither the database nor the callers are idle.
 */
export class GroupCommit {
  readonly #maxQueued: number;
  readonly #metrics: Metrics;
  readonly #gatherMs: number;
  readonly #storage: GroupCommitOptions['storage'];
  readonly #scoring: GroupCommitOptions['scoring'];
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#storage = options.storage;
    this.#scoring = options.scoring;
    this.#maxQueued = options.maxQueued;
    this.#metrics = options.metrics;
    this.#gatherMs = options.gatherMs;
  }

  /** Number of events that wait to be stored. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Records an event. Resolves when it is durable.
   *
   * @param memoryBytes - memory of the event until its response, in bytes
   * @throws QuotaError when the tenant has no quota left; ApiError `OVERLOADED` when too many events wait or the
   *   database is unavailable. The event is not stored.
   */
  record(tenantId: number, event: NewEvent, memoryBytes: number): Promise<RecordedEvent> {
    return new Promise<RecordedEvent>((resolve, reject) => {
      this.requireQueueSpace();
      this.#queue.push({ tenantId, event, memoryBytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** @throws ApiError `OVERLOADED` when no further event can wait. */
  requireQueueSpace(): void {
    if (this.#queue.length < this.#maxQueued) return;
    throw new ApiError('OVERLOADED', 'Too many events are waiting to be stored. Send this one again later.', {
      retryAfterSeconds: 1,
    });
  }

  /** Resolves when no event is waiting. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    let resolveGroup: (() => void) | undefined;
    let resolvedCount = 0;
    while (this.#queue.length > 0) {
      if (!resolveGroup) await this.#arrivals();
      const group = this.#take(this.#nextGroupSize(resolvedCount));
      const writing = this.#write(group);
      // While the database is busy, so that resolved callers can send their next events.
      resolveGroup?.();
      resolveGroup = await writing;
      resolvedCount = group.length;
      if (this.#gatherMs > 0) {
        resolveGroup();
        resolveGroup = undefined;
        if (group.length >= busyGroupSize) await setTimeout(this.#gatherMs);
      }
    }
    resolveGroup?.();
    this.#running = undefined;
  }

  /**
   * Returns the size of the next group: half of all callers, while the others are being resolved. A single group would
   * make all callers wait for the database, and then the database wait for all callers.
   */
  #nextGroupSize(resolvedCount: number): number {
    if (this.#gatherMs > 0) return maxGroupSize;
    const half = Math.ceil((this.#queue.length + resolvedCount) / 2);
    return Math.min(maxGroupSize, Math.max(undividedSize, half));
  }

  /** Takes the next group from the queue, limited by number and by memory. */
  #take(maxEvents: number): Waiting[] {
    let bytes = 0;
    const end = this.#queue.findIndex(({ memoryBytes }, index) => {
      bytes += memoryBytes;
      return index === maxEvents || (index > 0 && bytes > maxGroupBytes);
    });
    return this.#queue.splice(0, end === -1 ? maxEvents : end);
  }

  /** Waits as long as turns of the event loop bring events, because a larger group costs less per event. */
  async #arrivals(): Promise<void> {
    for (let turn = 0; turn < arrivalTurns && this.#queue.length < maxGroupSize; turn += 1) {
      const queuedBefore = this.#queue.length;
      await setImmediate();
      if (this.#queue.length === queuedBefore) return;
    }
  }

  /** Writes a group. Returns a function that resolves its callers. */
  async #write(group: readonly Waiting[]): Promise<() => void> {
    const byTenant = [...Map.groupBy(group, ({ tenantId }) => tenantId)];
    try {
      const recorded = await this.#storage.record(
        byTenant.map(([tenantId, members]) => ({ tenantId, events: members.map(({ event }) => event) })),
      );
      this.#scoring.after(recorded);
      const { outcomes } = recorded;
      const stored = outcomes.flat().filter((outcome) => 'isNew' in outcome && outcome.isNew).length;
      this.#metrics.group(group.length, stored);
      return () => {
        for (const [place, [, members]] of byTenant.entries()) {
          for (const [index, waiting] of members.entries()) {
            resolveWaiting(waiting, outcomes[place]?.[index] as EventOutcome);
          }
        }
      };
    } catch (error) {
      if (group.length === 1 || storageOutage(error) !== undefined) {
        for (const waiting of group) waiting.reject(error);
        return () => {};
      }
      // An event that cannot be stored must not fail the others.
      for (const waiting of group) (await this.#write([waiting]))();
      return () => {};
    }
  }
}

function resolveWaiting({ resolve, reject }: Waiting, outcome: EventOutcome): void {
  if ('refused' in outcome) reject(new QuotaError(outcome.refused, Date.now()));
  else resolve(outcome);
}
