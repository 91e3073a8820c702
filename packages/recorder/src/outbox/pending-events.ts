import type { QueuedEvent } from '../delivery/queued-event.ts';
import { SessionLanes } from '../delivery/session-lanes.ts';
import type { Journal } from '../journal/journal.ts';

/** Events in memory below which more are read from disk. */
const refillBelow = 256;
/** Events that one call writes down late, so that it takes well under a millisecond. */
const securedAtOnce = 32;

/** Where {@link PendingEvents} keeps them. */
export interface PendingEventsOptions {
  readonly journal: Journal | undefined;
  /** Most events in memory. */
  readonly maxQueuedEvents: number;
}

/** The events that the service does not have yet: in memory, on disk, or in both. */
export class PendingEvents {
  /** Those in memory. */
  readonly lanes = new SessionLanes();
  readonly #journal: Journal | undefined;
  readonly #maxQueuedEvents: number;

  constructor({ journal, maxQueuedEvents }: PendingEventsOptions) {
    this.#journal = journal;
    this.#maxQueuedEvents = maxQueuedEvents;
    if (journal) journal.onVolatile = (event) => this.lanes.becameVolatile(event);
  }

  /** How many there are, as far as they are counted. */
  get length(): number {
    return this.lanes.length + (this.#journal?.unread ?? 0);
  }

  /** Of them, those that stand on disk. */
  get durableLength(): number {
    return this.length - this.lanes.volatileLength;
  }

  /** Whether one more event can be promised room beside so many that are promised it. */
  canPromise(places: number): boolean {
    const journal = this.#journal;
    if (journal && !journal.room.canPromise(places)) return false;
    // A journal that failed is trusted with many again only when it has been written.
    return (journal !== undefined && !journal.isBroken) || this.lanes.length + places < this.#maxQueuedEvents;
  }

  /** Whether there is no room for another event beside so many that are to come. */
  isFullWith(places: number, nowMs: number): boolean {
    const journal = this.#journal;
    if (journal?.room.isFullWith(places)) return true;
    if (journal && journal.restLeftMs(nowMs) === 0) return false;
    return this.lanes.length + places >= this.#maxQueuedEvents;
  }

  /**
   * Loses others for the sake of an event, the oldest first, and important ones last.
   *
   * @param lose - told of each
   * @returns whether there is room now
   */
  makeRoomFor(event: QueuedEvent, nowMs: number, lose: (victim: QueuedEvent) => void): boolean {
    const journal = this.#journal;
    if (!journal?.room.isFull) {
      const { lanes } = this;
      const ordinary = lanes.oldest(false);
      // What stands on disk is given up last, and for no ordinary event, which memory alone would hold.
      const victim = event.isImportant ? (ordinary ?? lanes.oldestDurable ?? lanes.oldest(true)) : ordinary;
      if (victim) lose(victim);
      return victim !== undefined;
    }
    // What was taken over may be far more than there is room for.
    for (let before = Number.POSITIVE_INFINITY; journal.room.isFull && journal.bytes < before; ) {
      before = journal.bytes;
      for (const victim of journal.evictOldest(({ isImportant }) => isImportant, nowMs)) lose(victim);
    }
    return !journal.room.isFull;
  }

  /** Writes an event down, and keeps it in memory too where there is room; false when it could not be written. */
  write(event: QueuedEvent, nowMs: number): boolean {
    const journal = this.#journal;
    // Older events that only memory holds come first on disk, too.
    if (!journal || (this.lanes.volatileLength > 0 && !this.secure(nowMs))) return false;
    const isLoaded = !journal.hasUnread && this.lanes.length < this.#maxQueuedEvents;
    if (!journal.append(event, isLoaded, nowMs)) return false;
    if (isLoaded) this.lanes.push(event);
    return true;
  }

  /** Keeps an event in memory alone. What stands on disk unread is older, and is sent before it. */
  keepInMemory(event: QueuedEvent): void {
    if (this.#journal?.hasUnread || this.lanes.heldLength > 0) this.lanes.hold(event);
    else this.lanes.push(event);
  }

  /**
   * Writes down what only memory holds, as when a disk that was full has room again.
   *
   * @returns whether all of it stands on disk now
   */
  secure(nowMs: number, most = securedAtOnce): boolean {
    const journal = this.#journal;
    for (let count = 0; count < most; count += 1) {
      const event = this.lanes.firstVolatile;
      if (!event) return true;
      // One that is held comes back from the disk, behind what stands there unread.
      const { isHeld } = event;
      if (!journal || journal.room.isFull || !journal.append(event, !isHeld, nowMs)) return false;
      if (isHeld) this.lanes.remove(event);
      else this.lanes.becameDurable(event);
    }
    return this.lanes.volatileLength === 0;
  }

  /**
   * Reads events from disk when few are in memory.
   *
   * @returns how many; undefined when it was not tried
   */
  refill(): number | undefined {
    const journal = this.#journal;
    let count: number | undefined;
    // Few at a time: objects that are soon done with cost the garbage collector least.
    const isLow =
      this.lanes.length - this.lanes.heldLength <= Math.min(refillBelow, this.#maxQueuedEvents / 2);
    if (journal?.hasUnread && isLow) {
      const events = journal.readMore();
      for (const event of events) this.lanes.push(event);
      count = events.length;
    }
    if (this.lanes.heldLength > 0 && !journal?.isReading) this.lanes.releaseHeld();
    return count;
  }
}
