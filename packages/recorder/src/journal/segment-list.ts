import { dirname, join } from 'node:path';
import type { QueuedEvent } from '../delivery/session-queues.ts';
import { timers } from '../lib/timers.ts';
import { encodeSettled, type JournalFiles, Segment, syncFolder } from './segment.ts';
import { type LoadedEvents, loadUnread, survey } from './segment-survey.ts';
import type { SpoolFolder } from './spool-folder.ts';
import type { JournalOptions } from './spool-location.ts';

/** Pause after a failed read in milliseconds, initially and at most; doubles with each consecutive failure. */
const initialRestMs = 500;
const maxRestMs = 30_000;
/** Number of consecutive failed reads during which the other files wait, to keep the order. */
const maxAwaitedReads = 3;

/** Dependencies of a {@link SegmentList}. */
export interface SegmentListOptions {
  readonly files: JournalFiles;
  /** Called for every settled event. */
  readonly onSettled: () => void;
  /** Called when a file cannot be read. */
  readonly onFailure: (error: Error) => void;
  /** Called with the number of records that could no longer be read. */
  readonly onUnreadable: (count: number) => void;
  /** Called for every deleted file. */
  readonly onRemoved: (path: string) => void;
}

/** The segments of a journal, in order of delivery. */
export class SegmentList {
  readonly #options: SegmentListOptions;
  /** Segments of dead processes, then of this process; oldest first. */
  #segments: Segment[] = [];
  /** Segments of dead processes that have not been read yet. */
  #unsurveyed: Segment[] = [];
  /** Paths of all adopted segments. */
  readonly #adopted = new Set<string>();
  /** Number of events that are only on disk, as far as they are counted. */
  unread = 0;
  /** Size of all files, in bytes. */
  bytes = 0;

  constructor(options: SegmentListOptions) {
    this.#options = options;
  }

  /** `true` if a segment is still to be counted. */
  get hasUnsurveyed(): boolean {
    return this.#unsurveyed.length > 0;
  }

  /** The segment with the oldest events. */
  get oldest(): Segment | undefined {
    return this.#segments[0];
  }

  [Symbol.iterator](): IterableIterator<Segment> {
    return this.#segments.values();
  }

  /** Starts a new segment of this process. */
  begin(path: string): Segment {
    const segment = this.#create(path, 0, false);
    this.#segments.push(segment);
    return segment;
  }

  /** Adds a segment of a dead process, unless already present. */
  adopt(path: string): void {
    if (this.#adopted.has(path)) return;
    const bytes = this.#options.files.size(path);
    this.#adopted.add(path);
    this.bytes += bytes;
    this.#unsurveyed.push(this.#create(path, bytes, true));
  }

  /** Counts the events of the next adopted segment. */
  surveyNext(): { readonly unread: number; readonly damaged: number } {
    const segment = this.#unsurveyed.shift();
    if (!segment) return { unread: 0, damaged: 0 };
    let damaged: number;
    try {
      damaged = survey(this.#options.files, segment);
    } catch (error) {
      // The file stays in place, and the next search for abandoned files finds it again.
      this.bytes -= segment.bytes;
      this.#adopted.delete(segment.path);
      this.#options.onFailure(error as Error);
      return { unread: 0, damaged: 0 };
    }
    const { unread } = segment;
    this.unread += unread;
    const own = this.#segments.findIndex(({ isAdopted }) => !isAdopted);
    this.#segments.splice(own < 0 ? this.#segments.length : own, 0, segment);
    this.removeIfDone(segment);
    return { unread, damaged };
  }

  /**
   * The oldest segment with events that are only on disk. If it is unreadable, the others wait for it a few times; then
   * it is skipped and retried now and then.
   */
  get nextToRead(): Segment | undefined {
    for (const segment of this.#segments) {
      if (segment.unread === 0) continue;
      if (segment.failedReads === 0 || segment.readAgainAtMs <= timers.now()) return segment;
      if (segment.failedReads < maxAwaitedReads) return undefined;
    }
    return undefined;
  }

  /** `true` if there are events only on disk, in a file that the others wait for. */
  get isReading(): boolean {
    return this.#segments.some(({ failedReads, unread }) => unread > 0 && failedReads < maxAwaitedReads);
  }

  /** Milliseconds until an unreadable file is retried; undefined if there is none. */
  get readAgainInMs(): number | undefined {
    const failed = this.#segments.filter(({ failedReads, unread }) => unread > 0 && failedReads > 0);
    if (failed.length === 0) return undefined;
    const atMs = Math.min(...failed.map(({ readAgainAtMs }) => readAgainAtMs));
    return Math.max(0, atMs - timers.now());
  }

  /** Loads the next events of a segment. Returns none, and retries later, if the file is unreadable. */
  load(segment: Segment): readonly QueuedEvent[] {
    const before = segment.unread;
    let loaded: LoadedEvents;
    try {
      loaded = loadUnread(this.#options.files, segment);
    } catch (error) {
      const restMs = Math.min(maxRestMs, initialRestMs * 2 ** segment.failedReads);
      segment.failedReads += 1;
      segment.readAgainAtMs = timers.now() + restMs;
      this.#options.onFailure(error as Error);
      return [];
    }
    segment.failedReads = 0;
    this.unread -= before - segment.unread;
    if (loaded.damaged > 0) this.#options.onUnreadable(loaded.damaged);
    this.removeIfDone(segment);
    return loaded.events;
  }

  /** Stops waiting for an unreadable segment; its file stays in place. */
  giveUp(segment: Segment): void {
    segment.isUnreadable = true;
    this.unread -= segment.unread;
    segment.unread = 0;
    this.removeIfDone(segment);
  }

  /** Deletes the file of a segment that is no longer needed. */
  removeIfDone(segment: Segment): void {
    if (!segment.isSealed || !segment.isDone) return;
    const index = this.#segments.indexOf(segment);
    if (index < 0) return;
    this.#segments.splice(index, 1);
    this.bytes -= segment.bytes;
    if (segment.isUnreadable) return;
    this.#adopted.delete(segment.path);
    try {
      this.#options.files.unlink(segment.path);
      this.#options.onRemoved(segment.path);
    } catch {
      // The events are settled, so sending them again is harmless.
    }
  }

  /** Forgets all segments and returns the events in memory. */
  clear(): QueuedEvent[] {
    const loaded = this.#segments.flatMap((segment) => [...segment.loaded]);
    for (const event of loaded) event.place?.unload(event);
    this.#segments = [];
    this.#unsurveyed = [];
    this.#adopted.clear();
    this.unread = 0;
    this.bytes = 0;
    return loaded;
  }

  #create(path: string, bytes: number, isAdopted: boolean): Segment {
    const onSettled = (segment: Segment): void => {
      this.removeIfDone(segment);
      this.#options.onSettled();
    };
    return new Segment({ path, bytes, isAdopted, onSettled });
  }
}

/** Dependencies of a {@link SegmentWriter}. */
interface SegmentWriterOptions extends Pick<JournalOptions, 'files' | 'segmentBytes' | 'isSynced'> {
  readonly folder: SpoolFolder;
  readonly segments: SegmentList;
}

/** Writes the lines of the journal: events to the newest segment, settled events to the segment that contains them. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #active: ActiveSegment | undefined;
  #sequence = 0;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /**
   * Appends a line to the newest segment, or to a new one if that is full.
   *
   * @returns the segment and offset of the line
   * @throws the system's error when writing fails
   */
  append(line: string): { readonly segment: Segment; readonly offset: number } {
    const active = this.#writable(line.length);
    const offset = active.append(line);
    const { segment } = active;
    this.#options.segments.bytes += segment.bytes - offset;
    return { segment, offset };
  }

  /**
   * Writes which events of a segment are settled.
   *
   * @throws the system's error when writing fails
   */
  writeSettled(segment: Segment): void {
    const before = segment.bytes;
    try {
      const line = encodeSettled(segment.newlySettled);
      if (segment !== this.#active?.segment) this.#appendTo(segment, line);
      // If all events in it are settled, restart it, so that nothing of them stays on disk.
      else if (segment.isDone) this.#active.restart();
      else this.#active.append(line, false);
    } finally {
      this.#options.segments.bytes += segment.bytes - before;
    }
  }

  /** Stops writing to a segment, by default the newest; the next line starts another. */
  seal(segment = this.#active?.segment): void {
    const active = this.#active;
    if (!active || active.segment !== segment) return;
    this.#active = undefined;
    active.seal();
    this.#options.segments.removeIfDone(segment);
  }

  #writable(size: number): ActiveSegment {
    const active = this.#active;
    if (active && !active.segment.isSealed) {
      const { bytes } = active.segment;
      if (bytes === 0 || bytes + size <= this.#options.segmentBytes) return active;
    }
    this.seal();
    return this.#begin();
  }

  #begin(): ActiveSegment {
    const { files, folder, isSynced, segments } = this.#options;
    this.#sequence += 1;
    const segment = segments.begin(join(folder.path, `${String(this.#sequence).padStart(8, '0')}.seg`));
    try {
      this.#active = new ActiveSegment(segment, files, isSynced);
      return this.#active;
    } catch (error) {
      segment.isSealed = true;
      segments.removeIfDone(segment);
      throw error;
    }
  }

  #appendTo(segment: Segment, line: string): void {
    const { files } = this.#options;
    const fd = files.openForAppend(segment.path);
    try {
      segment.bytes += files.append(fd, line);
    } finally {
      files.close(fd);
    }
  }
}

/**
 * The segment being written. Lines are written completely or not at all: a partial write, for example on a full disk,
 * is truncated.
 */
class ActiveSegment {
  readonly segment: Segment;
  readonly #files: JournalFiles;
  readonly #isSynced: boolean;
  readonly #fd: number;

  /** @throws the system's error when the file cannot be created */
  constructor(segment: Segment, files: JournalFiles, isSynced: boolean) {
    this.segment = segment;
    this.#files = files;
    this.#isSynced = isSynced;
    this.#fd = files.openForAppend(segment.path);
    if (isSynced) syncFolder(files, dirname(segment.path));
  }

  /**
   * Appends a line.
   *
   * @returns the offset of the line
   * @throws the system's error when writing fails; the segment is then unchanged or sealed
   */
  append(line: string, isSynced = this.#isSynced): number {
    const offset = this.segment.bytes;
    const size = Buffer.byteLength(line);
    try {
      const written = this.#files.append(this.#fd, line);
      if (written !== size) throw new Error(`Only ${written} of ${size} bytes could be written.`);
      if (isSynced) this.#files.sync(this.#fd);
    } catch (error) {
      this.cut(offset);
      throw error;
    }
    this.segment.bytes = offset + size;
    return offset;
  }

  /** Truncates the file; if that fails, the file is no longer written to. */
  cut(size: number): void {
    try {
      this.#files.truncate(this.#fd, size);
      this.segment.bytes = size;
    } catch {
      this.seal();
    }
  }

  /** Empties the file, because all its events are settled. */
  restart(): void {
    this.cut(0);
    this.segment.cursor = this.segment.bytes;
    this.segment.passed.clear();
  }

  /** Stops writing to the file. */
  seal(): void {
    if (this.segment.isSealed) return;
    this.segment.isSealed = true;
    try {
      this.#files.close(this.#fd);
    } catch {
      // The written data stays written.
    }
  }
}
