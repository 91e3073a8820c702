import { crc32 } from 'node:zlib';
import type { JournalPlace, QueuedEvent } from '../delivery/queued-event.ts';
import { LinkedList } from '../lib/linked-list.ts';

/**
 * One file of the journal, and the state of its events. Events in memory are `loaded`; events after `cursor` are
 * `unread` and only on disk.
 */
export class Segment implements JournalPlace {
  readonly path: string;
  /** Total size of whole lines, in bytes. */
  bytes: number;
  /** Given up because it cannot be read; the file is left to a process that can. */
  isUnreadable = false;
  /** Number of consecutive failed reads, and the time of the next retry. */
  failedReads = 0;
  readAgainAtMs = 0;
  /** `true` if nothing more is appended. */
  isSealed: boolean;
  /** `true` if another process wrote it. */
  readonly isAdopted: boolean;
  /** Offset of the first event that is not in memory. */
  cursor = 0;
  /** Number of unsettled events after the cursor. */
  unread = 0;
  /** Events in memory that are not settled. */
  readonly loaded = new LinkedList<QueuedEvent>();
  /** Offsets after the cursor of events that are already in memory or settled. */
  readonly passed = new Set<number>();
  /** Offsets of settled events that the file does not record yet. */
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

  /** `true` if every event in it is settled. */
  get isDone(): boolean {
    return this.loaded.length === 0 && this.unread === 0;
  }

  /** Returns `true` if a reader at the cursor still has to load the event at `offset`. */
  isUnread(offset: number): boolean {
    return !this.passed.has(offset);
  }

  /** Notes that the event at `offset` is in memory. */
  load(event: QueuedEvent, offset: number): void {
    event.place = this;
    event.offset = offset;
    event.placeNode = this.loaded.push(event);
    // A later read must not load it again.
    if (offset >= this.cursor) this.passed.add(offset);
  }

  /** Forgets an event that is no longer here. */
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

/** One line of a segment. */
export type SegmentLine =
  | { readonly kind: 'event'; readonly originKey: string; readonly body: string }
  /** The events at these offsets of the same segment need no further handling. */
  | { readonly kind: 'settled'; readonly offsets: readonly number[] };

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * Encodes an event as a line: a CRC-32 in hex, a tab, and a record. JSON contains no raw line breaks or tabs, so a
 * damaged line does not affect the next one.
 */
export function encodeEvent(originKey: string, body: string): string {
  const record = `E\t${originKey}\t${body}`;
  return `${checksum(record)}\t${record}\n`;
}

/** Encodes settled events as a line. Starts with a line break, in case the line before is torn. */
export function encodeSettled(offsets: readonly number[]): string {
  const record = `S\t${offsets.join(',')}`;
  return `\n${checksum(record)}\t${record}\n`;
}

/** Decodes a line without its line break; undefined if it is empty, torn or damaged. */
export function decodeLine(line: string): SegmentLine | undefined {
  const record = line.slice(9);
  if (line[8] !== '\t' || line.slice(0, 8) !== checksum(record)) return undefined;
  if (record.startsWith('S\t')) return { kind: 'settled', offsets: record.slice(2).split(',').map(Number) };
  const bodyAt = record.indexOf('\t', 2) + 1;
  if (!record.startsWith('E\t') || bodyAt === 0) return undefined;
  return { kind: 'event', originKey: record.slice(2, bodyAt - 1), body: record.slice(bodyAt) };
}
