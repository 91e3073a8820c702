import type { QueuedEvent } from '../delivery/queued-event.ts';
import type { JournalFiles } from './journal-files.ts';
import { Segment } from './segment.ts';
import { loadUnread, survey } from './segment-survey.ts';

/** What a {@link SegmentList} works with. */
export interface SegmentListOptions {
  readonly files: JournalFiles;
  /** Told of every event that is settled. */
  readonly onSettled: () => void;
  /** Told why a file cannot be read. */
  readonly onFailure: (error: Error) => void;
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
    const isKnown = (segment: Segment) => segment.path === path;
    if (this.#segments.some(isKnown) || this.#unsurveyed.some(isKnown)) return;
    const bytes = this.#options.files.size(path);
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

  /** The oldest segment with events that memory does not hold. */
  get oldestUnread(): Segment | undefined {
    return this.#segments.find(({ unread }) => unread > 0);
  }

  /** Loads the next events of a segment; none, and none to come, when its file cannot be read. */
  load(segment: Segment): QueuedEvent[] {
    const before = segment.unread;
    let events: QueuedEvent[] = [];
    try {
      events = loadUnread(this.#options.files, segment);
    } catch (error) {
      segment.isUnreadable = true;
      segment.unread = 0;
      this.#options.onFailure(error as Error);
    }
    this.unread -= before - segment.unread;
    this.removeIfDone(segment);
    return events;
  }

  /** Deletes the file of a segment that nobody needs any more. */
  removeIfDone(segment: Segment): void {
    if (!segment.isSealed || !segment.isDone) return;
    const index = this.#segments.indexOf(segment);
    if (index < 0) return;
    this.#segments.splice(index, 1);
    this.bytes -= segment.bytes;
    if (segment.isUnreadable) return;
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
