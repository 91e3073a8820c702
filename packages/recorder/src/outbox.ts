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
/** How often a file that could not be read is looked after. */
const lookAgainMs = 1_000;
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
  readonly #room = new WaitingRoom(
    () => this.#hasRoom,
    () => {
      this.#places += 1;
    },
  );
  /** Events to come that have been promised room. */
  #places = 0;
  /** Why the events are lost that the user is being told of right now. */
  #telling: DropReason | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #lookAgainTimer: NodeJS.Timeout | undefined;
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
    const { counters, journal } = this.#options;
    counters.recorded += 1;
    if (this.#isClosed) {
      this.#tellDropped(event, 'closed');
      return;
    }
    // The room that is being made then is not for what the user records on hearing of it.
    if (this.#telling === 'full' || !this.#findRoom(event, nowMs)) {
      this.#tellDropped(event, 'full');
      return;
    }
    const wasBroken = journal?.isBroken;
    // Older events that only memory holds come first on disk, too.
    const isNext = this.#lanes.volatileLength === 0 || this.#secure(nowMs);
    const isLoaded = !journal?.hasUnread && this.#lanes.length < this.#options.maxQueuedEvents;
    const isDurable = isNext && (journal?.append(event, isLoaded, nowMs) ?? false);
    if (!isDurable || this.#lanes.volatileLength > 0) this.#lookAgain();
    // A journal that failed once more leaves it to memory. The first failure is no reason to lose an event.
    if (!isDurable && wasBroken && !this.#findRoom(event, nowMs)) {
      this.#tellDropped(event, 'full');
      return;
    }
    if (!isDurable) this.#keepInMemory(event);
    else if (isLoaded) this.#lanes.push(event);
    publish('recorded', () => ({ eventId: event.eventId, sessionId: event.sessionId, isDurable }));
    if (isDurable) this.#deliverer.gather();
    else this.#deliverer.wake();
    this.#room.check();
  }

  /**
   * Waits for room for an event to come, until the time is over or the signal aborts.
   *
   * @returns what gives the place back, to be called right before the event is added or when there is none;
   *   undefined when there was no room
   */
  async waitForRoom(signal: AbortSignal | undefined, timeoutMs: number): Promise<(() => void) | undefined> {
    return (await this.#room.wait(timeoutMs, signal)) ? () => this.#giveBack() : undefined;
  }

  /** Whether a caller that may wait should ask for room first. */
  get isBlocking(): boolean {
    return this.#options.whenFull === 'block' && !this.#isClosed;
  }

  /** Waits until nothing is pending; returns false when the time was over first. */
  async flush(timeoutMs: number): Promise<boolean> {
    const { journal } = this.#options;
    const endMs = performance.now() + timeoutMs;
    while (journal?.hasUnsurveyed && !this.#isClosed && performance.now() < endMs) {
      journal.surveyNext();
      this.#room.check();
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#isClosed) return this.pending === 0;
    this.#deliverer.hurry();
    const isIdle = await this.#idle.wait(endMs - performance.now());
    return isIdle && !journal?.hasUnsurveyed;
  }

  /** Waits, at the natural end of the process, for as long as events get through or only memory holds them. */
  linger(timeoutMs: number): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(this.pending === 0);
    this.#deliverer.wake();
    return this.#end.wait(timeoutMs);
  }

  /** Ends everything; what is pending is left to the next process. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#adoptTimer);
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#lookAgainTimer);
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

  /** Whether one more event can be promised room. */
  get #hasRoom(): boolean {
    const { journal, maxQueuedEvents } = this.#options;
    if (journal && !journal.canPromise(this.#places)) return false;
    // A journal that failed is trusted with many again only when it has been written.
    return (
      (journal !== undefined && !journal.isBroken) || this.#lanes.length + this.#places < maxQueuedEvents
    );
  }

  /** What the call records comes first, in the same turn; then those go on that wait for room. */
  #giveBack(): void {
    this.#places -= 1;
    queueMicrotask(() => this.#room.check());
  }

  /** Whether there is no room for an event. Important ones need not care for room that others were promised. */
  #isFullFor(event: QueuedEvent, nowMs: number): boolean {
    const { journal, maxQueuedEvents } = this.#options;
    const places = event.isImportant ? 0 : this.#places;
    if (journal?.isFullWith(places)) return true;
    if (journal && journal.restLeftMs(nowMs) === 0) return false;
    return this.#lanes.length + places >= maxQueuedEvents;
  }

  #findRoom(event: QueuedEvent, nowMs: number): boolean {
    return !this.#isFullFor(event, nowMs) || this.#makeRoom(event, nowMs);
  }

  /** What stands on disk unread is older than this event, and is sent before it. */
  #keepInMemory(event: QueuedEvent): void {
    if (this.#options.journal?.hasUnread || this.#lanes.heldLength > 0) this.#lanes.hold(event);
    else this.#lanes.push(event);
  }

  /** Drops others for the sake of this event; returns false when this is the one to drop. */
  #makeRoom(event: QueuedEvent, nowMs: number): boolean {
    const { journal, whenFull } = this.#options;
    if (whenFull !== 'drop-oldest' && !event.isImportant) return false;
    if (!journal?.isFull) return this.#dropFromMemory(event);
    // What was taken over may be far more than there is room for.
    for (let before = Number.POSITIVE_INFINITY; journal.isFull && journal.bytes < before; ) {
      before = journal.bytes;
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
    this.#tellDropped(event, reason);
  }

  /** A drop that comes of telling of another is only counted, else one could bring the next without end. */
  #tellDropped(event: QueuedEvent, reason: DropReason): void {
    const { counters, reporter } = this.#options;
    const outer = this.#telling;
    if (outer === reason) {
      counters.droppedByReason[reason] += 1;
      return;
    }
    this.#telling = reason;
    try {
      reporter.dropped(event.body, reason);
    } finally {
      this.#telling = outer;
    }
  }

  /**
   * Writes down what only memory holds, as when a disk that was full has room again.
   *
   * @returns whether all of it stands on disk now
   */
  #secure(nowMs: number, most = securedAtOnce): boolean {
    const { journal } = this.#options;
    for (let count = 0; count < most; count += 1) {
      const event = this.#lanes.firstVolatile;
      if (!event) return true;
      // One that is held comes back from the disk, behind what stands there unread.
      const { isHeld } = event;
      if (!journal || journal.isFull || !journal.append(event, !isHeld, nowMs)) return false;
      if (isHeld) this.#lanes.remove(event);
      else this.#lanes.becameDurable(event);
    }
    return this.#lanes.volatileLength === 0;
  }

  /** Comes back when something is to be expected of the journal, which nothing else would then look at. */
  #lookAgain(): void {
    const { journal } = this.#options;
    if (!journal || this.#lookAgainTimer || this.#isClosed) return;
    const delayMs = this.#lookAgainInMs(journal);
    if (delayMs === undefined) return;
    const start = () => setTimeout(() => this.#onLookAgain(journal), Math.ceil(delayMs));
    this.#lookAgainTimer = detached(start).unref();
  }

  #lookAgainInMs(journal: Journal): number | undefined {
    if (journal.isBroken) return journal.restLeftMs(Date.now());
    if (this.#lanes.volatileLength > 0 && !journal.isFull) return 0;
    return journal.readAgainInMs === undefined ? undefined : lookAgainMs;
  }

  #onLookAgain(journal: Journal): void {
    this.#lookAgainTimer = undefined;
    const nowMs = Date.now();
    journal.retry(nowMs);
    this.#secure(nowMs);
    this.#room.check();
    this.#end.check();
    if (journal.hasUnread) this.#deliverer.wake();
    this.#lookAgain();
  }

  #deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter } = this.#options;
    if (!deadLetters?.add(event.body, reason)) {
      this.#tellDropped(event, 'refused');
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
    const isLow = this.#lanes.length - this.#lanes.heldLength <= Math.min(refillBelow, maxQueuedEvents / 2);
    if (journal?.hasUnread && isLow) {
      const events = journal.readMore();
      for (const event of events) this.#lanes.push(event);
      if (events.length === 0) this.#lookAgain();
      // What was counted may be damaged, and its file gone.
      this.#room.check();
      this.#idle.check();
      this.#end.check();
    }
    if (this.#lanes.heldLength > 0 && !journal?.isReading) this.#lanes.releaseHeld();
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
    this.#lookAgain();
    this.#room.check();
  }

  #onSettled(): void {
    this.#idle.check();
    this.#end.check();
    this.#room.check();
    if (!this.#options.journal || this.#settleTimer || this.#isClosed) return;
    this.#settleTimer = setTimeout(() => {
      this.#settleTimer = undefined;
      this.#options.journal?.writeSettled();
      this.#room.check();
    }, settleEveryMs);
    this.#settleTimer.unref();
  }
}
