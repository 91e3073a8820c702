/** Kind of log entry: a call, a message, a memory write, or a decision about a call. */
export type EntryKind =
  | 'call'
  | 'message'
  | 'memory'
  | 'policy_denied'
  | 'held'
  | 'approved'
  | 'refused'
  | 'lapsed';

/** Kinds in their stored order: append only. */
export const ENTRY_KINDS: readonly EntryKind[] = [
  'call',
  'message',
  'memory',
  'policy_denied',
  'held',
  'approved',
  'refused',
  'lapsed',
];

/** One event in the log, reduced to the data that rules read. */
export interface LogEntry {
  readonly timestampMs: number;
  readonly eventId: string;
  /** Hash of the tool's name. */
  readonly tool: number;
  /** Hash of the argumentsHash; 0 if the event has none. */
  readonly argument: number;
  /** Tags of the tool as bits. */
  readonly bits: number;
  /** Index of the verb's class plus 1; 0 if unknown. */
  readonly verb: number;
  /** Index of the noun's class plus 1; 0 if unknown. */
  readonly noun: number;
  /** Index in `ENTRY_KINDS`. */
  readonly kind: number;
  /** Index in `OUTCOME_MARKS`, or `UNREAD`. */
  readonly outcome: number;
  /** Stamp of the event. */
  readonly stamp: number;
}

const HEAD = 18;
const TAIL = 8;

/** Place of an entry in a log. */
export interface Moment {
  readonly timestampMs: number;
  readonly eventId: string;
}

/** Compares events by time, then by id. */
export function compareEntries(a: Moment, b: Moment): number {
  if (a.timestampMs !== b.timestampMs) return a.timestampMs - b.timestampMs;
  return a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : 0;
}

function insert<Entry extends Moment>(entries: Entry[], entry: Entry): void {
  let at = entries.length;
  while (at > 0 && compareEntries(entries[at - 1] as Entry, entry) > 0) at--;
  if (at === entries.length) entries.push(entry);
  else entries.splice(at, 0, entry);
}

/**
 * The first eighteen and the last eight events by time: all of a short session, both ends of a long one, for any order
 * of arrival.
 */
export class EventLog<Entry extends Moment = LogEntry> {
  /** Earliest events, in order. */
  readonly head: Entry[];
  /** Latest events that are not in the head, in order. */
  readonly tail: Entry[];
  /** Number of added events. */
  total: number;
  readonly #tailSize: number;

  /**
   * @param head - earliest events, in order
   * @param tail - latest other events, in order
   * @param total - number of all
   * @param tailSize - maximum length of the tail
   */
  constructor(head: Entry[] = [], tail: Entry[] = [], total = 0, tailSize = TAIL) {
    this.head = head;
    this.tail = tail;
    this.total = total;
    this.#tailSize = tailSize;
  }

  /** `true` if an entry at this position would be kept, so that callers need not create others. */
  keeps(timestampMs: number, eventId: string): boolean {
    if (this.head.length < HEAD || this.tail.length < this.#tailSize) return true;
    const last = this.head[HEAD - 1] as Entry;
    if (timestampMs < last.timestampMs || (timestampMs === last.timestampMs && eventId < last.eventId))
      return true;
    const first = this.tail[0] as Entry;
    return timestampMs > first.timestampMs || (timestampMs === first.timestampMs && eventId > first.eventId);
  }

  /** Adds an entry and drops the one that is no longer among the first or last. */
  add(entry: Entry): void {
    let moved = entry;
    const headEnd = this.head[this.head.length - 1];
    if (this.head.length < HEAD) {
      // The tail stays empty until the head is full.
      insert(this.head, moved);
      return;
    }
    if (headEnd !== undefined && compareEntries(moved, headEnd) < 0) {
      insert(this.head, moved);
      moved = this.head.pop() as Entry;
    }
    insert(this.tail, moved);
    if (this.tail.length > this.#tailSize) this.tail.shift();
  }

  /** Returns head and tail, in order. */
  entries(): Entry[] {
    return [...this.head, ...this.tail];
  }

  /** `true` if the log contains all events. */
  get complete(): boolean {
    return this.total <= HEAD + this.#tailSize;
  }
}
