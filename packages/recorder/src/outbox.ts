import type { Counters } from './counters.ts';
import type { DeadLetters } from './dead-letters.ts';
import { Deliverer, type DelivererOptions } from './delivery/deliverer.ts';
import type { QueuedEvent } from './delivery/queued-event.ts';
import { SessionLanes } from './delivery/session-lanes.ts';
import { detached } from './detached.ts';
import { publish } from './diagnostics.ts';
import type { DropReason } from './drop-reason.ts';
import type { Journal } from './journal/journal.ts';
import type { Reporter } from './reporter.ts';
import { WaitingRoom } from './waiting-room.ts';

/** What happens to events when there is no room for another. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block';

/** How often settled events are written down, the folder is marked as alive and dead processes are looked for. */
const settleEveryMs = 500;
const adoptEveryMs = 30_000;
/** Events in memory below which more are read from disk. */
const refillBelow = 256;
/** Events that one call writes down late, so that it takes well under a millisecond. */
const securedAtOnce = 32;

/** What an {@link Outbox} works with. */
export interface OutboxOptions
  extends Pick<DelivererOptions, 'connect' | 'headersFor' | 'parseRetryAfter' | 'maxConcurrency'> {
  readonly journal: Journal | undefined;
  readonly deadLetters: DeadLetters | undefined;
  readonly maxQueuedEvents: number;
  readonly whenFull: WhenFull;
  readonly counters: Counters;
  readonly reporter: Reporter;
}

/** Takes events, keeps them until the service has them, and chooses which to lose when there is no room. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lanes = new SessionLanes();
  readonly #deliverer: Deliverer;
  readonly #idle = new WaitingRoom(() => this.pending === 0);
  /** Whether waiting at the end of the process is of no use: all is delivered, or safe on disk and undeliverable. */
  readonly #end = new WaitingRoom(
    () => this.pending === 0 || (!this.#deliverer.isHealthy && this.pending === this.spooled),
  );
  readonly #room = new WaitingRoom(() => !this.#isFull);
  #settleTimer: NodeJS.Timeout | undefined;
  readonly #adoptTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#deliverer = new Deliverer({
      ...options,
      lanes: this.#lanes,
      refill: () => this.#refill(),
      deadLetter: (event, reason) => this.#deadLetter(event, reason),
      onSettled: () => this.#onSettled(),
      onFailed: () => this.#end.check(),
    });
    if (options.journal) {
      options.journal.onVolatile = (event) => this.#lanes.becameVolatile(event);
      this.#adopt();
      this.#adoptTimer = detached(() => setInterval(() => this.#adopt(), adoptEveryMs));
      this.#adoptTimer.unref();
    }
    detached(() => this.#deliverer.warmUp());
  }

  /** Events that are not delivered, dropped or dead-lettered, as far as they are counted. */
  get pending(): number {
    return this.#lanes.length + (this.#options.journal?.unread ?? 0);
  }

  /** Of the pending events, those that stand on disk. */
  get spooled(): number {
    return this.pending - this.#lanes.volatileLength;
  }

  /** The event in memory that has waited longest. */
  get longestWaiting(): QueuedEvent | undefined {
    return this.#lanes.longestWaiting;
  }

  /** Whether events get through, as far as is known. */
  get isHealthy(): boolean {
    return this.#deliverer.isHealthy;
  }

  /** Takes an event. When this returns with a journal in place, the event survives the end of the process. */
  add(event: QueuedEvent, nowMs: number): void {
    const { counters, journal, reporter } = this.#options;
    counters.recorded += 1;
    if (this.#isClosed) {
      reporter.dropped(event.body, 'closed');
      return;
    }
    if (this.#isFull && !this.#makeRoom(event, nowMs)) {
      reporter.dropped(event.body, 'full');
      return;
    }
    const isLoaded = !journal?.hasUnread && this.#lanes.length < this.#options.maxQueuedEvents;
    const isDurable = journal?.append(event, isLoaded, nowMs) ?? false;
    if (isLoaded || !isDurable) this.#lanes.push(event);
    if (isDurable && this.#lanes.volatileLength > 0) this.#secure(nowMs);
    publish('recorded', () => ({ eventId: event.eventId, sessionId: event.sessionId, isDurable }));
    if (isDurable) this.#deliverer.gather();
    else this.#deliverer.wake();
  }

  /** Resolves when there is room for another event, the time is over or the signal aborts. */
  waitForRoom(signal: AbortSignal | undefined, timeoutMs: number): Promise<boolean> {
    return this.#room.wait(timeoutMs, signal);
  }

  /** Whether a caller that may wait should. */
  get isBlocking(): boolean {
    return this.#options.whenFull === 'block' && this.#isFull && !this.#isClosed;
  }

  /** Waits until nothing is pending; returns false when the time was over first. */
  async flush(timeoutMs: number): Promise<boolean> {
    while (this.#options.journal?.hasUnsurveyed) {
      this.#options.journal.surveyNext();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#deliverer.hurry();
    return this.#idle.wait(timeoutMs);
  }

  /** Waits, at the natural end of the process, for as long as events get through or only memory holds them. */
  linger(timeoutMs: number): Promise<boolean> {
    this.#deliverer.wake();
    return this.#end.wait(timeoutMs);
  }

  /** Ends everything; what is pending is left to the next process. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#adoptTimer);
    clearTimeout(this.#settleTimer);
    this.#deliverer.stop();
    this.#secure(Date.now(), Number.POSITIVE_INFINITY);
    for (let event = this.#lanes.firstVolatile; event; event = this.#lanes.firstVolatile) {
      this.#drop(event, 'closed');
    }
    this.#options.journal?.close();
    this.#room.release();
    this.#idle.release();
    this.#end.release();
  }

  /** Whether there is no room for an ordinary event. */
  get #isFull(): boolean {
    const { journal, maxQueuedEvents } = this.#options;
    if (journal?.isFull) return true;
    return (!journal || journal.isBroken) && this.#lanes.length >= maxQueuedEvents;
  }

  /** Drops others for the sake of this event; returns false when this is the one to drop. */
  #makeRoom(event: QueuedEvent, nowMs: number): boolean {
    const { journal, whenFull } = this.#options;
    if (whenFull !== 'drop-oldest' && !event.isImportant) return false;
    if (!journal?.isFull) return this.#dropFromMemory(event);
    // Each round frees at least half a segment.
    for (let round = 0; round < 4 && journal.isFull; round += 1) {
      for (const victim of journal.evictOldest(({ isImportant }) => isImportant, nowMs)) this.#drop(victim);
    }
    return !journal.isFull;
  }

  #dropFromMemory(event: QueuedEvent): boolean {
    const victim = this.#lanes.oldest(false) ?? (event.isImportant ? this.#lanes.oldest(true) : undefined);
    if (victim) this.#drop(victim);
    return victim !== undefined;
  }

  #drop(event: QueuedEvent, reason: DropReason = 'full'): void {
    this.#lanes.remove(event);
    event.settle();
    this.#options.reporter.dropped(event.body, reason);
  }

  /** Writes down what only memory holds, as when a disk that was full has room again. */
  #secure(nowMs: number, most = securedAtOnce): void {
    const { journal } = this.#options;
    for (let count = 0; count < most; count += 1) {
      const event = this.#lanes.firstVolatile;
      if (!event || !journal || journal.isFull || !journal.append(event, true, nowMs)) return;
      this.#lanes.becameDurable(event);
    }
  }

  #deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter } = this.#options;
    if (!deadLetters?.add(event.body, reason)) {
      reporter.dropped(event.body, 'refused');
      return;
    }
    counters.deadLettered += 1;
    publish('dead-lettered', () => ({ eventId: event.eventId, sessionId: event.sessionId, reason }));
    reporter.failed(
      'refused',
      new Error(`The service refused an event: ${reason}. It stands in ${deadLetters.path}.`),
    );
  }

  #refill(): void {
    const { journal, maxQueuedEvents } = this.#options;
    // Few at a time: objects that are soon done with cost the garbage collector least.
    if (!journal?.hasUnread || this.#lanes.length > Math.min(refillBelow, maxQueuedEvents / 2)) return;
    for (const event of journal.readMore()) this.#lanes.push(event);
  }

  #adopt(): void {
    try {
      this.#options.journal?.keepAlive(Date.now());
      this.#secure(Date.now());
      this.#options.journal?.adopt(Date.now());
    } catch (error) {
      this.#options.reporter.failed('adopt', error as Error);
    }
    if (this.#options.journal?.hasUnread) this.#deliverer.wake();
  }

  #onSettled(): void {
    this.#idle.check();
    this.#end.check();
    this.#room.check();
    if (!this.#options.journal || this.#settleTimer) return;
    this.#settleTimer = setTimeout(() => {
      this.#settleTimer = undefined;
      this.#options.journal?.writeSettled();
    }, settleEveryMs);
    this.#settleTimer.unref();
  }
}
