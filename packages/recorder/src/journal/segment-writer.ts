import { dirname, join } from 'node:path';
import { encodeSettled, type JournalFiles, type Segment, syncFolder } from './segment.ts';
import type { SegmentList } from './segment-list.ts';
import type { SpoolFolder } from './spool-folder.ts';
import type { JournalOptions } from './spool-location.ts';

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
