import { type QueuedEvent, SessionQueues } from '../delivery/session-queues.ts';
import type { Journal } from '../journal/journal.ts';
import { detached, timers } from '../lib/timers.ts';
import type { Reporter } from '../reporting/reporter.ts';

/** Number of events in memory below which more are read from disk. */
const refillBelow = 256;
/** Number of events written late per call, so that it takes well under a millisecond. */
const securedAtOnce = 32;

/** Dependencies of {@link PendingEvents}. */
export interface PendingEventsOptions {
  readonly journal: Journal | undefined;
  /** Maximum number of events in memory. */
  readonly maxQueuedEvents: number;
}

/** Undelivered events: in memory, on disk, or both. */
export class PendingEvents {
  /** Events in memory. */
  readonly queues = new SessionQueues();
  readonly #journal: Journal | undefined;
  readonly #maxQueuedEvents: number;

  constructor({ journal, maxQueuedEvents }: PendingEventsOptions) {
    this.#journal = journal;
    this.#maxQueuedEvents = maxQueuedEvents;
    if (journal) journal.onVolatile = (event) => this.queues.becameVolatile(event);
  }

  /** Number of events, as far as they are counted. */
  get length(): number {
    return this.queues.length + (this.#journal?.unread ?? 0);
  }

  /** Number of events on disk. */
  get durableLength(): number {
    return this.length - this.queues.volatileLength;
  }

  /** Returns `true` if room for one more event can be reserved in addition to the given number of places. */
  canPromise(places: number): boolean {
    const journal = this.#journal;
    if (journal && !journal.room.canPromise(places)) return false;
    // Reserve many places in a failed journal only after a successful write.
    return (
      (journal !== undefined && !journal.isBroken) || this.queues.length + places < this.#maxQueuedEvents
    );
  }

  /** Returns `true` if there is no room for another event in addition to the given number of places. */
  isFullWith(places: number, nowMs: number): boolean {
    const journal = this.#journal;
    if (journal?.room.isFullWith(places)) return true;
    if (journal && journal.restLeftMs(nowMs) === 0) return false;
    return this.queues.length + places >= this.#maxQueuedEvents;
  }

  /**
   * Drops other events to make room for one, the oldest first and important ones last.
   *
   * @param drop - called for each dropped event
   * @returns `true` if there is room now
   */
  makeRoomFor(event: QueuedEvent, nowMs: number, drop: (victim: QueuedEvent) => void): boolean {
    const journal = this.#journal;
    if (!journal?.room.isFull) {
      const { queues } = this;
      const ordinary = queues.oldest(false);
      // Events on disk are dropped last, and never for an ordinary event that would be only in memory.
      const victim = event.isImportant ? (ordinary ?? queues.oldestDurable ?? queues.oldest(true)) : ordinary;
      if (victim) drop(victim);
      return victim !== undefined;
    }
    // Events taken over may need far more than the available room.
    for (let before = Number.POSITIVE_INFINITY; journal.room.isFull && journal.bytes < before; ) {
      before = journal.bytes;
      for (const victim of journal.evictOldest(({ isImportant }) => isImportant, nowMs)) drop(victim);
    }
    return !journal.room.isFull;
  }

  /** Writes an event to disk, and keeps it in memory too if there is room. Returns `false` if writing failed. */
  write(event: QueuedEvent, nowMs: number): boolean {
    const journal = this.#journal;
    // Write older events first that are only in memory.
    if (!journal || (this.queues.volatileLength > 0 && !this.secure(nowMs))) return false;
    const isLoaded = !journal.hasUnread && this.queues.length < this.#maxQueuedEvents;
    if (!journal.append(event, isLoaded, nowMs)) return false;
    if (isLoaded) this.queues.push(event);
    return true;
  }

  /** Keeps an event only in memory. Unread events on disk are older and are sent first. */
  keepInMemory(event: QueuedEvent): void {
    if (this.#journal?.hasUnread || this.queues.heldLength > 0) this.queues.hold(event);
    else this.queues.push(event);
  }

  /**
   * Writes events that are only in memory, for example when a full disk has room again.
   *
   * @returns `true` if all of them are on disk now
   */
  secure(nowMs: number, limit = securedAtOnce): boolean {
    const journal = this.#journal;
    for (let count = 0; count < limit; count += 1) {
      const event = this.queues.firstVolatile;
      if (!event) return true;
      // A held event is read back from disk later, after the unread events there.
      const { isHeld } = event;
      if (!journal || journal.room.isFull || !journal.append(event, !isHeld, nowMs)) return false;
      if (isHeld) this.queues.remove(event);
      else this.queues.becameDurable(event);
    }
    return this.queues.volatileLength === 0;
  }

  /**
   * Reads events from disk if few are in memory.
   *
   * @returns the number of events read; undefined if not attempted
   */
  refill(): number | undefined {
    const journal = this.#journal;
    let count: number | undefined;
    // Only a few at a time, because short-lived objects are cheapest for the garbage collector.
    const isLow =
      this.queues.length - this.queues.heldLength <= Math.min(refillBelow, this.#maxQueuedEvents / 2);
    if (journal?.hasUnread && isLow) {
      const events = journal.readMore();
      for (const event of events) this.queues.push(event);
      count = events.length;
    }
    if (this.queues.heldLength > 0 && !journal?.isReading) this.queues.releaseHeld();
    return count;
  }
}

/** Callers that wait until a condition holds. There is no polling: code that changes the condition calls `check`. */
export class WaitingRoom {
  readonly #isOpen: () => boolean;
  readonly #waiting = new Set<(isOpen: boolean) => void>();

  readonly #onAdmitted: () => void;

  /** @param onAdmitted - called for each caller whose wait ends because the condition holds, before the next one */
  constructor(isOpen: () => boolean, onAdmitted: () => void = () => {}) {
    this.#isOpen = isOpen;
    this.#onAdmitted = onAdmitted;
  }

  /**
   * Resolves to `true` when the condition holds, to `false` on timeout or abort. The wait keeps the process alive,
   * because a caller is awaiting it.
   */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    // Earlier callers go first.
    this.check();
    if (this.#isOpen()) {
      this.#onAdmitted();
      return Promise.resolve(true);
    }
    if (signal?.aborted || timeoutMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isOpen: boolean) => {
        timers.clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiting.delete(end);
        resolve(isOpen);
      };
      const giveUp = () => end(false);
      const timer = timers.setTimeout(giveUp, Math.min(timeoutMs, 2 ** 31 - 1));
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(end);
    });
  }

  /** Ends waits in order while the condition holds. */
  check(): void {
    if (this.#waiting.size === 0) return;
    for (const end of this.#waiting) {
      if (!this.#isOpen()) return;
      this.#onAdmitted();
      end(true);
    }
  }

  /** Ends all waits, whether the condition holds or not. */
  release(): void {
    for (const end of [...this.#waiting]) end(this.#isOpen());
  }
}

/** Interval at which settled events are written, in milliseconds. */
const settleEveryMs = 500;
/** Interval at which the folder is marked as alive and dead processes are searched for, in milliseconds. */
const adoptEveryMs = 30_000;
/** Delay before an unreadable file is retried, in milliseconds. */
const recheckMs = 1_000;

/** Dependencies of {@link JournalUpkeep}. */
interface JournalUpkeepOptions {
  readonly journal: Journal;
  readonly events: PendingEvents;
  readonly reporter: Reporter;
  /** Called when there may be more to send, or more room. */
  readonly onChange: () => void;
}

/** Periodic tasks of a journal. Its timers do not keep the process alive. */
export class JournalUpkeep {
  readonly #options: JournalUpkeepOptions;
  readonly #adoptTimer: NodeJS.Timeout;
  #settleTimer: NodeJS.Timeout | undefined;
  #recheckTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: JournalUpkeepOptions) {
    this.#options = options;
    this.#adopt();
    this.#adoptTimer = detached(() => timers.setInterval(() => this.#adopt(), adoptEveryMs));
    this.#adoptTimer.unref();
  }

  /** Schedules writing which events are settled. */
  settleSoon(): void {
    if (this.#settleTimer || this.#isStopped) return;
    this.#settleTimer = timers.setTimeout(() => {
      this.#settleTimer = undefined;
      this.#options.journal.writeSettled();
      this.#options.onChange();
    }, settleEveryMs);
    this.#settleTimer.unref();
  }

  /** Schedules another check if the journal may change without any other trigger. */
  scheduleRecheck(): void {
    if (this.#recheckTimer || this.#isStopped) return;
    const delayMs = this.#recheckInMs;
    if (delayMs === undefined) return;
    const start = () => timers.setTimeout(() => this.#recheck(), Math.ceil(delayMs));
    this.#recheckTimer = detached(start).unref();
  }

  /** Stops all tasks. */
  stop(): void {
    this.#isStopped = true;
    timers.clearInterval(this.#adoptTimer);
    timers.clearTimeout(this.#settleTimer);
    timers.clearTimeout(this.#recheckTimer);
  }

  get #recheckInMs(): number | undefined {
    const { journal, events } = this.#options;
    if (journal.isBroken) return journal.restLeftMs(Date.now());
    if (events.queues.volatileLength > 0 && !journal.room.isFull) return 0;
    return journal.readAgainInMs === undefined ? undefined : recheckMs;
  }

  #recheck(): void {
    const { journal, events, onChange } = this.#options;
    this.#recheckTimer = undefined;
    const nowMs = Date.now();
    journal.retry(nowMs);
    events.secure(nowMs);
    onChange();
    this.scheduleRecheck();
  }

  #adopt(): void {
    const { journal, events, reporter, onChange } = this.#options;
    const nowMs = Date.now();
    try {
      journal.keepAlive(nowMs);
      events.secure(nowMs);
      journal.adopt(nowMs);
    } catch (error) {
      reporter.failed('adopt', error as Error);
    }
    onChange();
    this.scheduleRecheck();
  }
}
