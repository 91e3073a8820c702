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
  readonly memoryBytes: number;
  readonly resolve: (recorded: RecordedEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** What a group commit works with. */
export interface GroupCommitOptions {
  /** Events that may wait; beyond it an event is refused with 503. */
  readonly maxQueued: number;
  readonly metrics: Metrics;
  /**
   * Milliseconds to wait for more events after a commit under load: worth it where a commit costs about the same for
   * one event as for hundreds, as over a network. 0 lets the next commit follow at once.
   */
  readonly gatherMs: number;
  /** Writes the events in one durable transaction, and says what became of each. */
  commit(groups: readonly EventGroup[]): Promise<readonly (readonly EventOutcome[])[]>;
}

/** Events of one transaction: enough to share its cost, few enough to keep an answer quick. */
const largestGroup = 512;

/**
 * Bytes of memory that the events of one transaction take: a group of large ones is in memory several times over, as
 * text for the database and as rows.
 */
const largestGroupBytes = 4 * 1024 * 1024;

/**
 * Turns of the event loop that a group waits at most for what is still arriving. One that waits for all of it stands
 * idle meanwhile, one that waits for none is small and pays for a commit all the same.
 */
const arrivalTurns = 4;

/** So few events stay together: apart, each would pay more for its commit than it gains. */
const undivided = 24;

/** A group of this size shows a load under which others come at once. */
const busyGroup = 16;

/**
 * Events that arrive together share one transaction; each is answered after the commit. Whatever arrives during a
 * commit makes the next group, so a group is as large as the load makes it. One group is answered while the next is
 * being written, so that neither the database nor the callers stand idle.
 */
export class GroupCommit {
  readonly #maxQueued: number;
  readonly #metrics: Metrics;
  readonly #gatherMs: number;
  readonly #commitGroups: GroupCommitOptions['commit'];
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#commitGroups = options.commit;
    this.#maxQueued = options.maxQueued;
    this.#metrics = options.metrics;
    this.#gatherMs = options.gatherMs;
  }

  /** Events that wait to be stored. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Resolves when the event is durable.
   *
   * @param memoryBytes - bytes of memory that the event takes until it is answered
   * @throws QuotaError when the tenant has no room for it; ApiError `OVERLOADED` when too many events wait or the
   * database cannot take it: it is not stored.
   */
  record(tenantId: number, event: NewEvent, memoryBytes: number): Promise<RecordedEvent> {
    return new Promise<RecordedEvent>((resolve, reject) => {
      this.requirePlace();
      this.#queue.push({ tenantId, event, memoryBytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** @throws ApiError `OVERLOADED` when no other event can wait. */
  requirePlace(): void {
    if (this.#queue.length < this.#maxQueued) return;
    throw new ApiError('OVERLOADED', 'Too many events wait to be stored. Send this one again later.', {
      retryAfterSeconds: 1,
    });
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    let answer: (() => void) | undefined;
    let answered = 0;
    while (this.#queue.length > 0) {
      if (!answer) await this.#arrivals();
      const group = this.#take(this.#share(answered));
      const writing = this.#write(group);
      // While the database is at work: who is answered sends the next.
      answer?.();
      answer = await writing;
      answered = group.length;
      if (this.#gatherMs > 0) {
        answer();
        answer = undefined;
        if (group.length >= busyGroup) await setTimeout(this.#gatherMs);
      }
    }
    answer?.();
    this.#running = undefined;
  }

  /**
   * How many go into the next group: half of all callers, while the others are being answered. In one group they would
   * wait for the database all together, and it would then wait for all of them to come again.
   */
  #share(answered: number): number {
    if (this.#gatherMs > 0) return largestGroup;
    const half = Math.ceil((this.#queue.length + answered) / 2);
    return Math.min(largestGroup, Math.max(undivided, half));
  }

  /** Takes the next group out of the queue: at most so many events, and those that fit into its memory. */
  #take(most: number): Waiting[] {
    let bytes = 0;
    const end = this.#queue.findIndex(({ memoryBytes }, index) => {
      bytes += memoryBytes;
      return index === most || (index > 0 && bytes > largestGroupBytes);
    });
    return this.#queue.splice(0, end === -1 ? most : end);
  }

  /** Waits while turns of the event loop bring events: a commit costs less for each the more share it. */
  async #arrivals(): Promise<void> {
    for (let turn = 0; turn < arrivalTurns && this.#queue.length < largestGroup; turn += 1) {
      const seen = this.#queue.length;
      await setImmediate();
      if (this.#queue.length === seen) return;
    }
  }

  /** Writes a group; resolves with what answers it. */
  async #write(group: readonly Waiting[]): Promise<() => void> {
    const byTenant = [...Map.groupBy(group, ({ tenantId }) => tenantId)];
    try {
      const outcomes = await this.#commitGroups(
        byTenant.map(([tenantId, members]) => ({ tenantId, events: members.map(({ event }) => event) })),
      );
      const stored = outcomes.flat().filter((outcome) => 'isNew' in outcome && outcome.isNew).length;
      this.#metrics.group(group.length, stored);
      return () => {
        for (const [place, [, members]] of byTenant.entries()) {
          for (const [index, waiting] of members.entries()) {
            answerWith(waiting, outcomes[place]?.[index] as EventOutcome);
          }
        }
      };
    } catch (error) {
      if (group.length === 1 || storageOutage(error) !== undefined) {
        for (const waiting of group) waiting.reject(error);
        return () => {};
      }
      // One event that cannot be stored must not take its neighbours with it.
      for (const waiting of group) (await this.#write([waiting]))();
      return () => {};
    }
  }
}

function answerWith({ resolve, reject }: Waiting, outcome: EventOutcome): void {
  if ('refused' in outcome) reject(new QuotaError(outcome.refused, Date.now()));
  else resolve(outcome);
}
