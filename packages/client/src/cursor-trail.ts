/** How many pages without an item may follow each other. */
const mostEmptyPages = 1_000;

/**
 * The way that one reader took through the pages of a list, in constant memory. It finds every loop of cursors by
 * Brent's method: one cursor is kept for comparison, and exchanged whenever the number of pages has doubled. A step
 * leaves the trail itself as it was, so that a page can be continued from more than once.
 */
export class CursorTrail {
  readonly #anchor: string | undefined;
  readonly #sinceAnchor: number;
  readonly #anchorAge: number;
  readonly #emptyPages: number;

  constructor(anchor?: string, sinceAnchor = 0, anchorAge = 1, emptyPages = 0) {
    this.#anchor = anchor;
    this.#sinceAnchor = sinceAnchor;
    this.#anchorAge = anchorAge;
    this.#emptyPages = emptyPages;
  }

  /**
   * The trail behind one more page, or, as a text, why there must be no next one.
   *
   * @param cursor The page's `nextCursor`.
   */
  step(cursor: string, itemCount: number): CursorTrail | string {
    const emptyPages = itemCount === 0 ? this.#emptyPages + 1 : 0;
    if (emptyPages > mostEmptyPages) return `the ${emptyPages}th page without an item, one after another`;
    if (cursor === this.#anchor) return repeatedCursor;
    if (this.#sinceAnchor + 1 < this.#anchorAge) {
      return new CursorTrail(this.#anchor, this.#sinceAnchor + 1, this.#anchorAge, emptyPages);
    }
    return new CursorTrail(cursor, 0, this.#anchorAge * 2, emptyPages);
  }
}

/** What is wrong with a page whose cursor came before. */
export const repeatedCursor = 'a nextCursor that it gave before, so that the list would never end';
