import { dirname } from 'node:path';
import type { QueuedEvent } from '../delivery/session-queues.ts';
import { encodeEvent, type Segment } from './segment.ts';
import { SegmentList, SegmentWriter } from './segment-list.ts';
import { SpoolFolder } from './spool-folder.ts';
import type { JournalOptions } from './spool-location.ts';

/** Number of settled events that are batched before they are written. */
const settledBatch = 512;
/** Pause after a failed write, in milliseconds. */
const restMs = 1000;

/**
 * Events of this process on disk, in segments that are appended to and deleted as a whole. An event for which `append`
 * returned true survives the end of the process. Settled events are recorded in batches, so that few events are sent
 * twice; these keep their ids.
 */
export class Journal {
  /** Remaining space. */
  readonly room: JournalRoom;
  readonly #options: JournalOptions;
  readonly #folder: SpoolFolder;
  readonly #segments: SegmentList;
  readonly #writer: SegmentWriter;
  #newlySettled = 0;
  #restsUntilMs = 0;
  /** Called for an event in memory that is no longer on disk. */
  onVolatile: (event: QueuedEvent) => void = () => {};

  /** @throws the system's error when the folder cannot be created */
  constructor(options: JournalOptions) {
    this.#options = options;
    this.#folder = new SpoolFolder(options);
    this.#segments = new SegmentList({
      files: options.files,
      onSettled: () => {
        this.#newlySettled += 1;
        if (this.#newlySettled >= settledBatch) this.writeSettled();
      },
      onFailure: options.onFailure,
      onUnreadable: options.onUnreadable,
      onRemoved: (path) => this.#folder.tidy(dirname(path)),
    });
    this.room = new JournalRoom(this.#segments, options.maxBytes);
    this.#writer = new SegmentWriter({ ...options, folder: this.#folder, segments: this.#segments });
  }

  /** Size of all segments, in bytes. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Number of events that are only on disk, as far as they are counted. */
  get unread(): number {
    return this.#segments.unread;
  }

  /** `true` if there may be events that are only on disk. */
  get hasUnread(): boolean {
    return this.unread > 0 || this.hasUnsurveyed;
  }

  /** `true` if files of dead processes are still to be counted. */
  get hasUnsurveyed(): boolean {
    return this.#segments.hasUnsurveyed;
  }

  /** `true` if the last write failed. */
  get isBroken(): boolean {
    return this.#restsUntilMs > 0;
  }

  /** Returns the remaining pause after a failed write, in milliseconds. */
  restLeftMs(nowMs: number): number {
    if (this.#restsUntilMs === 0) return 0;
    const leftMs = this.#restsUntilMs - nowMs;
    // If the clock was set back, the rest appears longer than the whole pause.
    return leftMs > 0 && leftMs <= restMs ? leftMs : 0;
  }

  /** `true` if {@link readMore} will return more events soon; unreadable files do not count. */
  get isReading(): boolean {
    return this.hasUnsurveyed || this.#segments.isReading;
  }

  /** Milliseconds until an unreadable file is retried; undefined if there is none. */
  get readAgainInMs(): number | undefined {
    return this.#segments.readAgainInMs;
  }

  /**
   * Writes an event.
   *
   * @param isLoaded - `true` if the event is in memory too; otherwise {@link readMore} will return it
   * @returns `true` if the event is on disk
   */
  append(event: QueuedEvent, isLoaded: boolean, nowMs: number): boolean {
    if (this.restLeftMs(nowMs) > 0) return false;
    try {
      this.#keepFolder(nowMs);
      const { segment, offset } = this.#writer.append(encodeEvent(event.originKey, event.body));
      this.room.taken(segment.bytes - offset);
      this.#place(segment, event, offset, isLoaded);
      this.#restsUntilMs = 0;
      return true;
    } catch (error) {
      this.#rest(error as Error, nowMs);
      return false;
    }
  }

  /** Retries a failed journal after its pause, because a caller may be waiting for it. */
  retry(nowMs: number): void {
    if (!this.isBroken || this.restLeftMs(nowMs) > 0) return;
    try {
      this.#keepFolder(nowMs);
      // An empty line has no meaning.
      this.#writer.append('\n');
      this.#restsUntilMs = 0;
    } catch (error) {
      this.#rest(error as Error, nowMs);
    }
  }

  /**
   * Reads the next events from disk. Returns none if {@link hasUnread} has become false, or if a file could not be read
   * and will be retried in {@link readAgainInMs}.
   */
  readMore(): readonly QueuedEvent[] {
    for (;;) {
      // Events of dead processes come before events of this process.
      while (this.hasUnsurveyed && !this.#segments.nextToRead?.isAdopted) this.surveyNext();
      const segment = this.#segments.nextToRead;
      if (!segment) return [];
      // A chunk with only settled events yields none; continue with the next one.
      const events = this.#segments.load(segment);
      if (events.length > 0) return events;
    }
  }

  /** Takes over the files of dead processes. */
  adopt(nowMs: number): void {
    for (const path of this.#folder.adopt(nowMs)) this.#segments.adopt(path);
  }

  /** Counts the events of a dead process's next segment. */
  surveyNext(): void {
    const { unread, damaged } = this.#segments.surveyNext();
    if (damaged > 0) this.#options.onUnreadable(damaged);
    if (unread > 0) this.#options.onAdopted(unread);
  }

  /**
   * Deletes the oldest segment. Events selected by `keeps` are written again, up to half of the segment.
   *
   * @returns the deleted events
   */
  evictOldest(keeps: (event: QueuedEvent) => boolean, nowMs: number): QueuedEvent[] {
    while (this.hasUnsurveyed && !this.#segments.oldest?.isAdopted) this.surveyNext();
    const segment = this.#segments.oldest;
    if (!segment) return [];
    this.#writer.seal(segment);
    const inMemory = new Set(segment.loaded);
    this.#loadAll(segment);
    let bytesToKeep = segment.bytes / 2;
    const evicted: QueuedEvent[] = [];
    for (const event of [...segment.loaded]) {
      const isKept = event.inFlight || (keeps(event) && event.body.length < bytesToKeep);
      if (isKept) bytesToKeep -= event.body.length;
      segment.unload(event);
      const isInMemory = inMemory.has(event);
      if (isKept && this.append(event, isInMemory, nowMs)) continue;
      if (isKept && isInMemory) this.onVolatile(event);
      else evicted.push(event);
    }
    this.#segments.removeIfDone(segment);
    return evicted;
  }

  /** Writes which events are settled. */
  writeSettled(): void {
    this.#newlySettled = 0;
    for (const segment of this.#segments) {
      if (segment.newlySettled.length === 0) continue;
      try {
        this.#writer.writeSettled(segment);
      } catch {
        // These events are sent again after a crash, with the same ids.
      }
      segment.newlySettled = [];
      if (segment.unread === 0) segment.cursor = segment.bytes;
    }
  }

  /** Marks the folder as alive, and notices if another process took it over or it was removed. */
  keepAlive(nowMs: number): void {
    try {
      this.#keepFolder(nowMs, true);
    } catch (error) {
      this.#options.onFailure(error as Error);
    }
  }

  /** Stops writing; unsettled events are left to the next process. */
  close(): void {
    this.writeSettled();
    this.#writer.seal();
    this.#folder.release();
  }

  #rest(error: Error, nowMs: number): void {
    this.#restsUntilMs = nowMs + restMs;
    this.#options.onFailure(error);
  }

  /** Loads all events of a segment. Leaves unreadable events in their file for the next process. */
  #loadAll(segment: Segment): void {
    while (segment.unread > 0) {
      this.#segments.load(segment);
      if (segment.failedReads === 0) continue;
      this.#options.onAdopted(-segment.unread);
      this.#segments.giveUp(segment);
    }
  }

  #place(segment: Segment, event: QueuedEvent, offset: number, isLoaded: boolean): void {
    if (isLoaded) {
      if (segment.unread === 0) segment.cursor = segment.bytes;
      segment.load(event, offset);
    } else {
      segment.unread += 1;
      this.#segments.unread += 1;
    }
  }

  /**
   * Keeps the folder of this process. If another process took it over, writes the events in memory again and leaves the
   * others to that process. If the folder was moved, the others may be lost.
   */
  #keepFolder(nowMs: number, isDue = false): void {
    if (this.#folder.keep(nowMs, isDue)) return;
    if (this.#folder.wasMoved) this.#options.onMoved(this.#segments.unread);
    this.#options.onAdopted(-this.#segments.unread);
    this.#writer.seal();
    const moved = this.#segments.clear();
    for (const event of moved) if (!this.append(event, true, nowMs)) this.onVolatile(event);
    // There may have been nothing to write.
    this.#folder.keep(nowMs);
  }
}

/** Space reserved per future event, until a longer one was seen, in bytes. */
const usualLineBytes = 1024;

/** Tracks the remaining space of a journal. */
class JournalRoom {
  readonly #segments: SegmentList;
  readonly #maxBytes: number;
  #longestLine = usualLineBytes;

  constructor(segments: SegmentList, maxBytes: number) {
    this.#segments = segments;
    this.#maxBytes = maxBytes;
  }

  /** `true` if there is no space for another event. */
  get isFull(): boolean {
    return this.#segments.bytes >= this.#maxBytes;
  }

  /** Returns `true` if there is no space for another event in addition to the given number of future events. */
  isFullWith(toCome: number): boolean {
    return this.#segments.bytes + toCome * this.#longestLine >= this.#maxBytes;
  }

  /** Returns `true` if space for one more event can be reserved in addition to the given number of future events. */
  canPromise(toCome: number): boolean {
    // Records of settled events take some space too.
    const settledBytes = this.#maxBytes / 32;
    return this.#segments.bytes + (toCome + 1) * this.#longestLine + settledBytes < this.#maxBytes;
  }

  /** Tracks the size of the longest event. */
  taken(bytes: number): void {
    if (bytes > this.#longestLine) this.#longestLine = bytes;
  }
}
