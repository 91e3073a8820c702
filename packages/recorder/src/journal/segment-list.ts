import type { QueuedEvent } from '../delivery/queued-event.ts';
import { timers } from '../timers.ts';
import type { JournalFiles } from './journal-files.ts';
import { Segment } from './segment.ts';
import { type LoadedEvents, loadUnread, survey } from './segment-survey.ts';

/** How long a file that could not be read is left alone: the first time, doubled with each further one, and at most. */
const firstRestMs = 500;
const longestRestMs = 30_000;
/** So often in a row the others wait for a file that cannot be read, which keeps the order. */
const patientReads = 3;

/** What a {@link SegmentList} works with. */
export interface SegmentListOptions {
  readonly files: JournalFiles;
  /** Told of every event that is settled. */
  readonly onSettled: () => void;
  /** Told why a file cannot be read. */
  readonly onFailure: (error: Error) => void;
  /** Told of records that could not be read any more. */
  readonly onUnreadable: (count: number) => void;
  /** Told of every file that is deleted. */
  readonly onRemoved: (path: string) => void;
}

/** The segments of a journal in the order in which their events are delivered. */
export class SegmentList {
  readonly #options: SegmentListOptions;
  /** Oldest first: those of dead processes, then our own. */
  #segments: Segment[] = [];
  /** Segments of dead processes of which nothing is known yet. */
  #unsurveyed: Segment[] = [];
  /** The paths of all adopted segments. */
  readonly #adopted = new Set<string>();
  /** Events on disk that memory does not hold, as far as they are counted. */
  unread = 0;
  /** Bytes of all files. */
  bytes = 0;

  constructor(options: SegmentListOptions) {
    this.#options = options;
  }

  /** Whether a segment is still to be counted. */
  get hasUnsurveyed(): boolean {
    return this.#unsurveyed.length > 0;
  }

  /** The one whose events are the oldest. */
  get oldest(): Segment | undefined {
    return this.#segments[0];
  }

  [Symbol.iterator](): IterableIterator<Segment> {
    return this.#segments.values();
  }

  /** Begins a new segment of our own. */
  begin(path: string): Segment {
    const segment = this.#create(path, 0, false);
    this.#segments.push(segment);
    return segment;
  }

  /** Adds what a dead process left, unless it stands here already. */
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
      // The file stays where it is, and the next search for left-behind files finds it again.
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
   * The oldest segment with events that memory does not hold. For one that could not be read the others wait a few
   * times; then it is passed over, and tried now and then.
   */
  get nextToRead(): Segment | undefined {
    for (const segment of this.#segments) {
      if (segment.unread === 0) continue;
      if (segment.failedReads === 0 || segment.readAgainAtMs <= timers.now()) return segment;
      if (segment.failedReads < patientReads) return undefined;
    }
    return undefined;
  }

  /** Whether there are events that memory does not hold, in a file for which the others wait. */
  get isReading(): boolean {
    return this.#segments.some(({ failedReads, unread }) => unread > 0 && failedReads < patientReads);
  }

  /** When a file that could not be read is tried again; undefined when there is none. */
  get readAgainInMs(): number | undefined {
    const failed = this.#segments.filter(({ failedReads, unread }) => unread > 0 && failedReads > 0);
    if (failed.length === 0) return undefined;
    const atMs = Math.min(...failed.map(({ readAgainAtMs }) => readAgainAtMs));
    return Math.max(0, atMs - timers.now());
  }

  /** Loads the next events of a segment; none, and those to come later, when its file cannot be read. */
  load(segment: Segment): readonly QueuedEvent[] {
    const before = segment.unread;
    let loaded: LoadedEvents;
    try {
      loaded = loadUnread(this.#options.files, segment);
    } catch (error) {
      const restMs = Math.min(longestRestMs, firstRestMs * 2 ** segment.failedReads);
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

  /** Waits no longer for what cannot be read; the file stays where it is. */
  giveUp(segment: Segment): void {
    segment.isUnreadable = true;
    this.unread -= segment.unread;
    segment.unread = 0;
    this.removeIfDone(segment);
  }

  /** Deletes the file of a segment that nobody needs any more. */
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
      // Its events are settled: sending them once more does no harm.
    }
  }

  /** Forgets everything; returns the events that memory holds. */
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
