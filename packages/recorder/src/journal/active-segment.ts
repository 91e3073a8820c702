import { dirname } from 'node:path';
import { type JournalFiles, syncFolder } from './journal-files.ts';
import type { Segment } from './segment.ts';

/**
 * The segment being written. Lines are written completely or not at all: a partial write, for example on a full disk,
 * is truncated.
 */
export class ActiveSegment {
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
