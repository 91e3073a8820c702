import { Deliverer, type DelivererOptions } from '../delivery/deliverer.ts';
import type { QueuedEvent } from '../delivery/session-queues.ts';
import { factsIn } from '../events/event.ts';
import { detached, timers } from '../lib/timers.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import { type Counters, type DropReason, publish, type Reporter } from '../reporting/reporter.ts';
import type { DeadLetters } from './dead-letters.ts';
import { JournalUpkeep, PendingEvents, type PendingEventsOptions, WaitingRoom } from './pending-events.ts';

/** Policy for events when there is no room for another. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block';

/** Dependencies of an {@link Outbox}. */
export interface OutboxOptions
  extends PendingEventsOptions,
    LossesOptions,
    Pick<DelivererOptions, 'connect' | 'headersFor' | 'parseRetryAfter' | 'maxConcurrency' | 'baseURL'> {
  readonly whenFull: WhenFull;
}

/** Accepts events, keeps them until they are delivered, and selects which to lose when there is no room. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #events: PendingEvents;
  readonly #losses: Losses;
  readonly #deliverer: Deliverer;
  /** Undefined without a journal. */
  readonly #upkeep: JournalUpkeep | undefined;
  readonly #idle = new WaitingRoom(() => this.pending === 0);
  /**
   * Opens when waiting at the end of the process is pointless: everything is delivered, or safe on disk and
   * undeliverable.
   */
  readonly #end = new WaitingRoom(
    () => this.pending === 0 || (!this.#deliverer.isHealthy && this.pending === this.spooled),
  );
  readonly #room = new WaitingRoom(
    () => this.#events.canPromise(this.#reservedPlaces),
    () => {
      this.#reservedPlaces += 1;
    },
  );
  /** Number of future events that room is reserved for. */
  #reservedPlaces = 0;
  #isClosed = false;
  #isExiting = false;
  /** `true` if events recorded after close are released at the end of the turn. */
  #isReleasing = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#events = new PendingEvents(options);
    this.#losses = new Losses(options);
    this.#deliverer = new Deliverer({
      ...options,
      queues: this.#events.queues,
      refill: () => this.#refill(),
      deadLetter: (event, reason) => this.#losses.deadLetter(event, reason),
      onSettled: () => this.#onSettled(),
      onFailed: () => this.#end.check(),
    });
    const { journal, reporter } = options;
    this.#upkeep =
      journal &&
      new JournalUpkeep({ journal, events: this.#events, reporter, onChange: () => this.#onChange() });
    detached(() => this.#deliverer.warmUp());
  }

  /** Number of events that are not delivered, dropped or dead-lettered, as far as they are counted. */
  get pending(): number {
    return this.#events.length;
  }

  /** Number of pending events on disk. */
  get spooled(): number {
    return this.#events.durableLength;
  }

  /** Event in memory that has waited longest. */
  get longestWaiting(): QueuedEvent | undefined {
    return this.#events.queues.longestWaiting;
  }

  /** `true` if events are being delivered, as far as is known. */
  get isHealthy(): boolean {
    return this.#deliverer.isHealthy;
  }

  /** Accepts an event. With a journal, the event survives the end of the process once this returns. */
  add(event: QueuedEvent, nowMs: number): void {
    const { counters, journal } = this.#options;
    counters.recorded += 1;
    if (this.#isClosed) {
      this.#addLate(event, nowMs);
      return;
    }
    // Room that is being made is not for events that the user records in `onDrop`.
    if (this.#losses.isReporting('full') || !this.#findRoom(event, nowMs)) {
      this.#losses.drop(event, 'full');
      return;
    }
    const wasBroken = journal?.isBroken;
    const isDurable = this.#events.write(event, nowMs);
    if (!isDurable || this.#events.queues.volatileLength > 0) this.#upkeep?.scheduleRecheck();
    if (!isDurable) {
      // After a repeated failure of the journal, the limit of the memory applies. The first failure is no reason to
      // lose an event.
      if (wasBroken && !this.#findRoom(event, nowMs)) {
        this.#losses.drop(event, 'full');
        return;
      }
      this.#events.keepInMemory(event);
    }
    publish('recorded', () => ({ eventId: event.eventId, sessionId: event.sessionId, isDurable }));
    if (isDurable) this.#deliverer.gather();
    else this.#deliverer.wake();
    this.#room.check();
  }

  /**
   * Waits for room for a future event, until the timeout or the signal.
   *
   * @returns a function that releases the reserved room, to be called just before the event is added or if there is
   * none; undefined if there was no room
   */
  async waitForRoom(signal: AbortSignal | undefined, timeoutMs: number): Promise<(() => void) | undefined> {
    return (await this.#room.wait(timeoutMs, signal)) ? () => this.#releasePlace() : undefined;
  }

  /** `true` if a caller that can wait should first wait for room. */
  get isBlocking(): boolean {
    return this.#options.whenFull === 'block' && !this.#isClosed;
  }

  /** Waits until nothing is pending; returns `false` on timeout. */
  async flush(timeoutMs: number): Promise<boolean> {
    const { journal } = this.#options;
    const endMs = timers.now() + timeoutMs;
    while (journal?.hasUnsurveyed && !this.#isClosed && timers.now() < endMs) {
      journal.surveyNext();
      this.#room.check();
      await new Promise((resolve) => timers.setImmediate(resolve));
    }
    if (this.#isClosed) return this.pending === 0;
    this.#deliverer.hurry();
    const isIdle = await this.#idle.wait(endMs - timers.now());
    return isIdle && !journal?.hasUnsurveyed;
  }

  /** Waits at the normal end of the process while events are delivered or are only in memory. */
  async linger(timeoutMs: number): Promise<boolean> {
    if (this.#isClosed) return this.pending === 0;
    this.#deliverer.wake();
    const isOver = await this.#end.wait(timeoutMs);
    // Otherwise a process that ends before an outage is certain would end silently.
    if (this.pending > 0) this.#deliverer.reportOutage();
    return isOver;
  }

  /** Closes everything. Pending events, and those recorded from now on, are left to the next process. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { queues } = this.#events;
    const nowMs = Date.now();
    this.#upkeep?.stop();
    this.#deliverer.stop();
    // Otherwise events of a removed folder would be reported as being on disk.
    this.#options.journal?.keepAlive(nowMs);
    this.#events.secure(nowMs, Number.POSITIVE_INFINITY);
    for (let event = queues.firstVolatile; event; event = queues.firstVolatile) {
      this.#drop(event, 'closed');
    }
    this.#options.journal?.close();
    this.#room.release();
    this.#idle.release();
    this.#end.release();
  }

  /** Closes everything at the end of the process, when listeners after the recorder's may still record. */
  exit(): void {
    this.close();
    this.#isExiting = true;
  }

  /** Leaves an event to the next process, if there is a journal. */
  #addLate(event: QueuedEvent, nowMs: number): void {
    const { journal, reporter } = this.#options;
    if (!journal || journal.room.isFull || !journal.append(event, false, nowMs)) {
      this.#losses.drop(event, 'closed');
      return;
    }
    this.#release();
    publish('recorded', () => ({ eventId: event.eventId, sessionId: event.sessionId, isDurable: true }));
    if (this.#isExiting) return;
    const problem =
      'An event was recorded after close(): it stays on disk for the next recorder. Close the recorder after the last call has ended.';
    reporter.failed('recorded-late', new Error(problem));
  }

  /** Releases the folder once per turn instead of once per event; at the end of the process any process may take it. */
  #release(): void {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    timers.setImmediate(() => {
      this.#isReleasing = false;
      this.#options.journal?.close();
    });
  }

  /** Checks after the event of the call has been recorded in the same turn, so that it comes before waiting calls. */
  #releasePlace(): void {
    this.#reservedPlaces -= 1;
    queueMicrotask(() => this.#room.check());
  }

  /** Returns `true` if there is room for an event. Important events may use reserved room and replace others. */
  #findRoom(event: QueuedEvent, nowMs: number): boolean {
    if (!this.#events.isFullWith(event.isImportant ? 0 : this.#reservedPlaces, nowMs)) return true;
    if (this.#options.whenFull !== 'drop-oldest' && !event.isImportant) return false;
    return this.#events.makeRoomFor(event, nowMs, (victim) => this.#drop(victim, 'full'));
  }

  #drop(event: QueuedEvent, reason: DropReason): void {
    this.#events.queues.remove(event);
    event.settle();
    this.#losses.drop(event, reason);
  }

  #refill(): void {
    const count = this.#events.refill();
    if (count === undefined) return;
    if (count === 0) this.#upkeep?.scheduleRecheck();
    // Counted events may be damaged, and their file gone.
    this.#check();
  }

  #onSettled(): void {
    this.#check();
    this.#upkeep?.settleSoon();
  }

  #onChange(): void {
    if (this.#options.journal?.hasUnread) this.#deliverer.wake();
    this.#check();
  }

  #check(): void {
    this.#idle.check();
    this.#end.check();
    this.#room.check();
  }
}

/** Dependencies of {@link Losses}. */
export interface LossesOptions {
  readonly deadLetters: DeadLetters | undefined;
  readonly counters: Counters;
  readonly reporter: Reporter;
  readonly refusals: FactRefusals;
}

/** Counts the events that the service will never receive, and reports each. */
export class Losses {
  readonly #options: LossesOptions;
  /** Reason of the loss being reported. */
  #reporting: DropReason | undefined;

  constructor(options: LossesOptions) {
    this.#options = options;
  }

  /**
   * Returns `true` while a loss for this reason is being reported, so that the callback may be recording further
   * events.
   */
  isReporting(reason: DropReason): boolean {
    return this.#reporting === reason;
  }

  /**
   * Reports a lost event. If it was lost while another loss was being reported, it is only counted, to prevent endless
   * recursion.
   */
  drop(event: QueuedEvent, reason: DropReason): void {
    const { counters, reporter } = this.#options;
    const outer = this.#reporting;
    if (outer === reason) {
      counters.droppedByReason[reason] += 1;
      return;
    }
    this.#reporting = reason;
    try {
      reporter.dropped(event.body, reason);
    } finally {
      this.#reporting = outer;
    }
  }

  /**
   * Handles an event that the service rejected permanently: stores it in the dead-letter file, if there is one. An event
   * with further facts about a call is left out: it only adds to the event of the call.
   */
  deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter, refusals } = this.#options;
    const facts = factsIn(event.body);
    if (facts) {
      counters.omitted += 1;
      refusals.rememberEvent(facts);
      return;
    }
    if (!deadLetters?.add(event.body, reason)) {
      this.drop(event, 'refused');
      return;
    }
    counters.deadLettered += 1;
    publish('dead-lettered', () => ({ eventId: event.eventId, sessionId: event.sessionId, reason }));
    reporter.failed(
      'refused',
      new Error(`The service rejected an event: ${reason}. It is stored in ${deadLetters.path}.`),
    );
  }
}
