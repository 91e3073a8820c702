/** Maximum number of consecutive pages without items. */
const mostEmptyPages = 1_000;

/**
 * Detects cycles in the pages of a list, in constant memory. Uses Brent's method: it compares each cursor with one
 * saved cursor, which it replaces whenever the number of pages has doubled. Immutable, so that a page can be continued
 * more than once.
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
   * Returns the trail after one more page, or a string with the reason why there must be no further page.
   *
   * @param cursor `nextCursor` of the page.
   */
  step(cursor: string, itemCount: number): CursorTrail | string {
    const emptyPages = itemCount === 0 ? this.#emptyPages + 1 : 0;
    if (emptyPages > mostEmptyPages) return `no items, the ${emptyPages}th such page in a row`;
    if (cursor === this.#anchor) return repeatedCursor;
    if (this.#sinceAnchor + 1 < this.#anchorAge) {
      return new CursorTrail(this.#anchor, this.#sinceAnchor + 1, this.#anchorAge, emptyPages);
    }
    return new CursorTrail(cursor, 0, this.#anchorAge * 2, emptyPages);
  }
}

/** Problem reported when a cursor repeats. */
export const repeatedCursor = 'a nextCursor that it returned before, so the list would never end';
