import { dirname } from 'node:path';
import type { QueuedEvent } from '../delivery/queued-event.ts';
import type { JournalOptions } from './journal-options.ts';
import { JournalRoom } from './journal-room.ts';
import type { Segment } from './segment.ts';
import { encodeEvent } from './segment-line.ts';
import { SegmentList } from './segment-list.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SpoolFolder } from './spool-folder.ts';

/** Settled events that are gathered before the journal writes them down. */
const settledBatch = 512;
/** How long a journal that could not be written is left alone. */
const restMs = 1000;

/**
 * The events of this process on disk, in segments that are appended to and deleted whole. An event for which
 * `append` returned true survives the end of the process; settled events are written down now and then, so that
 * little is sent twice, and what is sent twice has the same id.
 */
export class Journal {
  /** What its size limit leaves. */
  readonly room: JournalRoom;
  readonly #options: JournalOptions;
  readonly #folder: SpoolFolder;
  readonly #segments: SegmentList;
  readonly #writer: SegmentWriter;
  #newlySettled = 0;
  #restsUntilMs = 0;
  /** Told of an event in memory that stands on disk no longer. */
  onVolatile: (event: QueuedEvent) => void = () => {};

  /** @throws the system's error when the folder cannot be made */
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

  /** Bytes of all segments. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Events on disk that memory does not hold, as far as they are counted. */
  get unread(): number {
    return this.#segments.unread;
  }

  /** Whether there may be events on disk that memory does not hold. */
  get hasUnread(): boolean {
    return this.unread > 0 || this.hasUnsurveyed;
  }

  /** Whether what dead processes left is still to be counted. */
  get hasUnsurveyed(): boolean {
    return this.#segments.hasUnsurveyed;
  }

  /** Whether the last try to write failed. */
  get isBroken(): boolean {
    return this.#restsUntilMs > 0;
  }

  /** How long a journal that could not be written is still left alone. */
  restLeftMs(nowMs: number): number {
    if (this.#restsUntilMs === 0) return 0;
    const leftMs = this.#restsUntilMs - nowMs;
    // More than the whole rest is left when the clock was set back.
    return leftMs > 0 && leftMs <= restMs ? leftMs : 0;
  }

  /** Whether {@link readMore} is to bring more before long: files that cannot be read at all are not waited for. */
  get isReading(): boolean {
    return this.hasUnsurveyed || this.#segments.isReading;
  }

  /** When a file that could not be read is tried again; undefined when there is none. */
  get readAgainInMs(): number | undefined {
    return this.#segments.readAgainInMs;
  }

  /**
   * Writes an event down.
   *
   * @param isLoaded - whether memory holds it too; otherwise {@link readMore} will bring it
   * @returns whether it stands on disk
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

  /** Tries a journal that could not be written, once its rest is over: somebody may be waiting for it. */
  retry(nowMs: number): void {
    if (!this.isBroken || this.restLeftMs(nowMs) > 0) return;
    try {
      this.#keepFolder(nowMs);
      // An empty line says nothing.
      this.#writer.append('\n');
      this.#restsUntilMs = 0;
    } catch (error) {
      this.#rest(error as Error, nowMs);
    }
  }

  /**
   * Brings the next events from disk into memory; none when {@link hasUnread} has become false, or when a file could
   * not be read and is to be tried again in {@link readAgainInMs}.
   */
  readMore(): readonly QueuedEvent[] {
    for (;;) {
      // Our own come after all that dead processes left.
      while (this.hasUnsurveyed && !this.#segments.nextToRead?.isAdopted) this.surveyNext();
      const segment = this.#segments.nextToRead;
      if (!segment) return [];
      // A stretch of settled events yields none, and there are more behind it.
      const events = this.#segments.load(segment);
      if (events.length > 0) return events;
    }
  }

  /** Takes over what dead processes left behind. */
  adopt(nowMs: number): void {
    for (const path of this.#folder.adopt(nowMs)) this.#segments.adopt(path);
  }

  /** Counts the next segment that a dead process left. */
  surveyNext(): void {
    const { unread, damaged } = this.#segments.surveyNext();
    if (damaged > 0) this.#options.onUnreadable(damaged);
    if (unread > 0) this.#options.onAdopted(unread);
  }

  /**
   * Frees the oldest segment. Events that `keeps` wants are written down again, up to half of the segment.
   *
   * @returns the events that are gone
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

  /** Writes down which events are settled. */
  writeSettled(): void {
    this.#newlySettled = 0;
    for (const segment of this.#segments) {
      if (segment.newlySettled.length === 0) continue;
      try {
        this.#writer.writeSettled(segment);
      } catch {
        // Those events are sent once more after a crash, with the same ids.
      }
      segment.newlySettled = [];
      if (segment.unread === 0) segment.cursor = segment.bytes;
    }
  }

  /** Marks the folder as alive, and notices when another process took it over or somebody removed it. */
  keepAlive(nowMs: number): void {
    try {
      this.#keepFolder(nowMs, true);
    } catch (error) {
      this.#options.onFailure(error as Error);
    }
  }

  /** Ends the writing; what is not settled is left to the next process. */
  close(): void {
    this.writeSettled();
    this.#writer.seal();
    this.#folder.release();
  }

  #rest(error: Error, nowMs: number): void {
    this.#restsUntilMs = nowMs + restMs;
    this.#options.onFailure(error);
  }

  /** What cannot be read is left, in its file, to the next process. */
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

  /** When another process took the folder over, what memory holds is written down again; the rest is theirs. */
  #keepFolder(nowMs: number, isDue = false): void {
    if (this.#folder.keep(nowMs, isDue)) return;
    this.#options.onAdopted(-this.#segments.unread);
    this.#writer.seal();
    const moved = this.#segments.clear();
    for (const event of moved) if (!this.append(event, true, nowMs)) this.onVolatile(event);
    // Nothing may have been there to write.
    this.#folder.keep(nowMs);
  }
}
