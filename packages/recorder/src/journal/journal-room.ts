import type { SegmentList } from './segment-list.ts';

/** The room that an event to come is given, until a longer one was seen. */
const usualLineBytes = 1024;

/** How much of a journal's size limit is left. */
export class JournalRoom {
  readonly #segments: SegmentList;
  readonly #maxBytes: number;
  #longestLine = usualLineBytes;

  constructor(segments: SegmentList, maxBytes: number) {
    this.#segments = segments;
    this.#maxBytes = maxBytes;
  }

  /** Whether there is none for another event. */
  get isFull(): boolean {
    return this.#segments.bytes >= this.#maxBytes;
  }

  /** Whether there is none for another event beside so many that are still to come. */
  isFullWith(toCome: number): boolean {
    return this.#segments.bytes + toCome * this.#longestLine >= this.#maxBytes;
  }

  /** Whether one more event can be promised room beside so many that are still to come. */
  canPromise(toCome: number): boolean {
    // What tells of settled events takes some room too.
    const settledBytes = this.#maxBytes / 32;
    return this.#segments.bytes + (toCome + 1) * this.#longestLine + settledBytes < this.#maxBytes;
  }

  /** Takes note of the bytes that an event took. */
  taken(bytes: number): void {
    if (bytes > this.#longestLine) this.#longestLine = bytes;
  }
}
