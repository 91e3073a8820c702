import type { SegmentList } from './segment-list.ts';

/** Space reserved per future event, until a longer one was seen, in bytes. */
const usualLineBytes = 1024;

/** Tracks the remaining space of a journal. */
export class JournalRoom {
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

  /** Notes the size of an event. */
  taken(bytes: number): void {
    if (bytes > this.#longestLine) this.#longestLine = bytes;
  }
}
