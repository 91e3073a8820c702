/**
 * A compiled search text (Knuth-Morris-Pratt). A search reads each character of the other text once, for any two
 * texts.
 */
export class LinearSearch {
  readonly searched: string;
  /** For each prefix of `searched`, the length of its longest proper prefix that is also its suffix. */
  readonly #borders: Uint32Array | Uint8Array;

  constructor(searched: string) {
    this.searched = searched;
    // Patterns are short, and a tenant may have thousands of them.
    this.#borders =
      searched.length < 256 ? new Uint8Array(searched.length) : new Uint32Array(searched.length);
    let length = 0;
    for (let at = 1; at < searched.length; at += 1) {
      length = this.#matchedAfter(length, searched.charCodeAt(at));
      this.#borders[at] = length;
    }
  }

  /** Returns the index in `text` of the first occurrence that lies between `from` and `end`, or -1. */
  indexIn(text: string, from: number, end: number = text.length): number {
    const { length } = this.searched;
    if (length === 0) return from <= end ? from : -1;
    let matched = 0;
    for (let at = from; at < end; at += 1) {
      matched = this.#matchedAfter(matched, text.charCodeAt(at));
      if (matched === length) return at - length + 1;
    }
    return -1;
  }

  /**
   * Returns the number of characters of `searched` that match after one more; `matched` (less than all)
   * matched before.
   */
  #matchedAfter(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.searched.charCodeAt(length) !== code)
      length = this.#borders[length - 1] as number;
    return this.searched.charCodeAt(length) === code ? length + 1 : length;
  }
}
