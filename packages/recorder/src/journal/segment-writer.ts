import { join } from 'node:path';
import { ActiveSegment } from './active-segment.ts';
import type { JournalOptions } from './journal-options.ts';
import type { Segment } from './segment.ts';
import { encodeSettled } from './segment-line.ts';
import type { SegmentList } from './segment-list.ts';
import type { SpoolFolder } from './spool-folder.ts';

/** Dependencies of a {@link SegmentWriter}. */
export interface SegmentWriterOptions extends Pick<JournalOptions, 'files' | 'segmentBytes' | 'isSynced'> {
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
