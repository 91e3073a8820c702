import { Deliverer, type DelivererOptions } from '../delivery/deliverer.ts';
import type { QueuedEvent } from '../delivery/queued-event.ts';
import { detached } from '../detached.ts';
import { publish } from '../diagnostics.ts';
import type { DropReason } from '../drop-reason.ts';
import { timers } from '../timers.ts';
import { JournalUpkeep } from './journal-upkeep.ts';
import { Losses, type LossesOptions } from './losses.ts';
import { PendingEvents, type PendingEventsOptions } from './pending-events.ts';
import { WaitingRoom } from './waiting-room.ts';

/** What happens to events when there is no room for another. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block';

/** What an {@link Outbox} works with. */
export interface OutboxOptions
  extends PendingEventsOptions,
    LossesOptions,
    Pick<DelivererOptions, 'connect' | 'headersFor' | 'parseRetryAfter' | 'maxConcurrency' | 'baseURL'> {
  readonly whenFull: WhenFull;
}

/** Takes events, keeps them until the service has them, and chooses which to lose when there is no room. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #events: PendingEvents;
  readonly #losses: Losses;
  readonly #deliverer: Deliverer;
  /** Undefined where there is no journal. */
  readonly #upkeep: JournalUpkeep | undefined;
  readonly #idle = new WaitingRoom(() => this.pending === 0);
  /** Whether waiting at the end of the process is of no use: all is delivered, or safe on disk and undeliverable. */
  readonly #end = new WaitingRoom(
    () => this.pending === 0 || (!this.#deliverer.isHealthy && this.pending === this.spooled),
  );
  readonly #room = new WaitingRoom(
    () => this.#events.canPromise(this.#places),
    () => {
      this.#places += 1;
    },
  );
  /** Events to come that have been promised room. */
  #places = 0;
  #isClosed = false;
  #isExiting = false;
  /** What came after the end is let go of at the end of the turn. */
  #isReleasing = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#events = new PendingEvents(options);
    this.#losses = new Losses(options);
    this.#deliverer = new Deliverer({
      ...options,
      lanes: this.#events.lanes,
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

  /** Events that are not delivered, dropped or dead-lettered, as far as they are counted. */
  get pending(): number {
    return this.#events.length;
  }

  /** Of the pending events, those that stand on disk. */
  get spooled(): number {
    return this.#events.durableLength;
  }

  /** The event in memory that has waited longest. */
  get longestWaiting(): QueuedEvent | undefined {
    return this.#events.lanes.longestWaiting;
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
      this.#addLate(event, nowMs);
      return;
    }
    // The room that is being made then is not for what the user records on hearing of it.
    if (this.#losses.isTelling('full') || !this.#findRoom(event, nowMs)) {
      this.#losses.drop(event, 'full');
      return;
    }
    const wasBroken = journal?.isBroken;
    const isDurable = this.#events.write(event, nowMs);
    if (!isDurable || this.#events.lanes.volatileLength > 0) this.#upkeep?.lookAgain();
    if (!isDurable) {
      // A journal that failed once more leaves it to memory. The first failure is no reason to lose an event.
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

  /** Waits, at the natural end of the process, for as long as events get through or only memory holds them. */
  async linger(timeoutMs: number): Promise<boolean> {
    if (this.#isClosed) return this.pending === 0;
    this.#deliverer.wake();
    const isOver = await this.#end.wait(timeoutMs);
    // A process that ends sooner than an outage is sure of would else end in silence.
    if (this.pending > 0) this.#deliverer.tellOfOutage();
    return isOver;
  }

  /** Ends everything. What is pending, and what is recorded from now on, is left to the next process. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { lanes } = this.#events;
    const nowMs = Date.now();
    this.#upkeep?.stop();
    this.#deliverer.stop();
    // What stood in a folder that is gone would else be told as being on disk.
    this.#options.journal?.keepAlive(nowMs);
    this.#events.secure(nowMs, Number.POSITIVE_INFINITY);
    for (let event = lanes.firstVolatile; event; event = lanes.firstVolatile) {
      this.#drop(event, 'closed');
    }
    this.#options.journal?.close();
    this.#room.release();
    this.#idle.release();
    this.#end.release();
  }

  /** Ends everything, at the end of the process: listeners that come after the recorder's own may still record. */
  exit(): void {
    this.close();
    this.#isExiting = true;
  }

  /** Leaves an event to the next process, where there is a disk. */
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
      'An event was recorded after close(): it waits on disk for the next recorder. Close when the last call has ended.';
    reporter.failed('recorded-late', new Error(problem));
  }

  /** Gives up the folder once a turn, and not with each event; at the end of the process it is anybody's. */
  #release(): void {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    timers.setImmediate(() => {
      this.#isReleasing = false;
      this.#options.journal?.close();
    });
  }

  /** What the call records comes first, in the same turn; then those go on that wait for room. */
  #giveBack(): void {
    this.#places -= 1;
    queueMicrotask(() => this.#room.check());
  }

  /** Important events need not care for room that others were promised, and are worth losing others for. */
  #findRoom(event: QueuedEvent, nowMs: number): boolean {
    if (!this.#events.isFullWith(event.isImportant ? 0 : this.#places, nowMs)) return true;
    if (this.#options.whenFull !== 'drop-oldest' && !event.isImportant) return false;
    return this.#events.makeRoomFor(event, nowMs, (victim) => this.#drop(victim, 'full'));
  }

  #drop(event: QueuedEvent, reason: DropReason): void {
    this.#events.lanes.remove(event);
    event.settle();
    this.#losses.drop(event, reason);
  }

  #refill(): void {
    const count = this.#events.refill();
    if (count === undefined) return;
    if (count === 0) this.#upkeep?.lookAgain();
    // What was counted may be damaged, and its file gone.
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
