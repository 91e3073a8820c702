import type { JournalPlace, QueuedEvent } from '../delivery/queued-event.ts';
import { LinkedList } from '../linked-list.ts';

/**
 * One file of the journal, and what is known of the events in it. Events that memory holds are `loaded`; those that
 * stand behind `cursor` are `unread` and wait on disk.
 */
export class Segment implements JournalPlace {
  readonly path: string;
  /** Bytes of whole lines. */
  bytes: number;
  /** Given up, since it cannot be read: the file stays for a process that can read it. */
  isUnreadable = false;
  /** How often in a row it could not be read, and when that is tried again. */
  failedReads = 0;
  readAgainAtMs = 0;
  /** Nothing more is appended. */
  isSealed: boolean;
  /** Whether another process wrote it. */
  readonly isAdopted: boolean;
  /** Where the first event stands that memory does not hold. */
  cursor = 0;
  /** How many events stand behind the cursor, settled ones not counted. */
  unread = 0;
  /** Events in memory that are not settled. */
  readonly loaded = new LinkedList<QueuedEvent>();
  /** Offsets behind the cursor of events that memory holds, or that are settled, all the same. */
  readonly passed = new Set<number>();
  /** Offsets of settled events that the file does not tell of yet. */
  newlySettled: number[] = [];

  readonly #onSettled: (segment: Segment) => void;

  constructor(options: {
    path: string;
    bytes: number;
    isAdopted: boolean;
    onSettled: (segment: Segment) => void;
  }) {
    this.path = options.path;
    this.bytes = options.bytes;
    this.isSealed = options.isAdopted;
    this.isAdopted = options.isAdopted;
    this.#onSettled = options.onSettled;
  }

  /** Whether every event in it is settled. */
  get isDone(): boolean {
    return this.loaded.length === 0 && this.unread === 0;
  }

  /** Whether a reader at the cursor still has to load the event that stands at `offset`. */
  isUnread(offset: number): boolean {
    return !this.passed.has(offset);
  }

  /** Says that memory holds the event that stands at `offset`. */
  load(event: QueuedEvent, offset: number): void {
    event.place = this;
    event.offset = offset;
    event.placeNode = this.loaded.push(event);
    // A reader that comes past it later must not load it again.
    if (offset >= this.cursor) this.passed.add(offset);
  }

  /** Forgets an event, which stands here no longer. */
  unload(event: QueuedEvent): void {
    if (event.place !== this || !event.placeNode) return;
    this.loaded.remove(event.placeNode);
    event.placeNode = undefined;
    event.place = undefined;
  }

  settle(event: QueuedEvent): void {
    this.unload(event);
    this.newlySettled.push(event.offset);
    this.#onSettled(this);
  }
}
