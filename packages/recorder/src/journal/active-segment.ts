import { dirname } from 'node:path';
import { type JournalFiles, syncFolder } from './journal-files.ts';
import type { Segment } from './segment.ts';

/**
 * The segment that is being written. A line is in it whole or not at all: what a full disk cut short is cut off
 * again.
 */
export class ActiveSegment {
  readonly segment: Segment;
  readonly #files: JournalFiles;
  readonly #isSynced: boolean;
  readonly #fd: number;

  /** @throws the system's error when the file cannot be made */
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
   * @returns the offset at which it stands
   * @throws the system's error when it could not be written; the segment is then as it was, or sealed
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

  /** Shortens the file; a file that cannot be shortened is not written any more. */
  cut(size: number): void {
    try {
      this.#files.truncate(this.#fd, size);
      this.segment.bytes = size;
    } catch {
      this.seal();
    }
  }

  /** Empties the file: all its events are settled. */
  restart(): void {
    this.cut(0);
    this.segment.cursor = this.segment.bytes;
    this.segment.passed.clear();
  }

  /** Ends the writing. */
  seal(): void {
    if (this.segment.isSealed) return;
    this.segment.isSealed = true;
    try {
      this.#files.close(this.#fd);
    } catch {
      // What was written stays written.
    }
  }
}
