import type { QueuedEvent } from '../delivery/queued-event.ts';
import { SessionQueues } from '../delivery/session-queues.ts';
import type { Journal } from '../journal/journal.ts';

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
