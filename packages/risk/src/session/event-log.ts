/** What an event was: a call, a message, a memory write, or a decision on a call. */
export type EntryKind =
  | 'call'
  | 'message'
  | 'memory'
  | 'policy_denied'
  | 'held'
  | 'approved'
  | 'refused'
  | 'lapsed';

/** The kinds in their stored order: add at the end. */
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

/** One event in the log, reduced to what rules read. */
export interface LogEntry {
  readonly timestampMs: number;
  readonly eventId: string;
  /** Hash of the tool's name. */
  readonly tool: number;
  /** Hash of the argumentsHash; 0 where the event had none. */
  readonly argument: number;
  /** Tags of the tool as bits. */
  readonly bits: number;
  /** Index of the verb's class plus 1; 0 where it is unknown. */
  readonly verb: number;
  /** Index of the noun's class plus 1; 0 where it is unknown. */
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

/** Order of events: by time, then by id. */
export function compareEntries(a: LogEntry, b: LogEntry): number {
  if (a.timestampMs !== b.timestampMs) return a.timestampMs - b.timestampMs;
  return a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : 0;
}

function insert(entries: LogEntry[], entry: LogEntry): void {
  let at = entries.length;
  while (at > 0 && compareEntries(entries[at - 1] as LogEntry, entry) > 0) at--;
  if (at === entries.length) entries.push(entry);
  else entries.splice(at, 0, entry);
}

/**
 * The first eighteen and the last eight events in the order of their times: all of a short session, both ends of
 * a long one, whatever the order of arrival.
 */
export class EventLog {
  /** Earliest events, in order. */
  readonly head: LogEntry[];
  /** Latest events that are not in the head, in order. */
  readonly tail: LogEntry[];
  /** How many events were added. */
  total: number;

  /** @param head Earliest events, in order. @param tail Latest other events, in order. @param total Number of all. */
  constructor(head: LogEntry[] = [], tail: LogEntry[] = [], total = 0) {
    this.head = head;
    this.tail = tail;
    this.total = total;
  }

  /** Whether an entry at this place would be kept: spares the caller from making one that is not. */
  keeps(timestampMs: number, eventId: string): boolean {
    if (this.head.length < HEAD || this.tail.length < TAIL) return true;
    const last = this.head[HEAD - 1] as LogEntry;
    if (timestampMs < last.timestampMs || (timestampMs === last.timestampMs && eventId < last.eventId))
      return true;
    const first = this.tail[0] as LogEntry;
    return timestampMs > first.timestampMs || (timestampMs === first.timestampMs && eventId > first.eventId);
  }

  /** Adds an entry, and drops the one that is no longer among the first or the last. */
  add(entry: LogEntry): void {
    let moved = entry;
    const headEnd = this.head[this.head.length - 1];
    if (this.head.length < HEAD) {
      // While the head has room nothing has gone to the tail.
      insert(this.head, moved);
      return;
    }
    if (headEnd !== undefined && compareEntries(moved, headEnd) < 0) {
      insert(this.head, moved);
      moved = this.head.pop() as LogEntry;
    }
    insert(this.tail, moved);
    if (this.tail.length > TAIL) this.tail.shift();
  }

  /** Head and tail, in order. */
  entries(): LogEntry[] {
    return [...this.head, ...this.tail];
  }

  /** Whether the log holds all events. */
  get complete(): boolean {
    return this.total <= HEAD + TAIL;
  }
}
