/** One page of a list. Loop over its `items`, or over the page itself for those of the pages behind it too. */
export class Page<Item> implements AsyncIterable<Item, undefined> {
  /** The items, under whatever name the service gave them. */
  readonly items: readonly Item[];
  /** Where the next page starts: pass it as `cursor` to go on later; null on the last page. */
  readonly nextCursor: string | null;
  readonly #body: Readonly<Record<string, unknown>>;
  readonly #next: (() => Promise<Page<Item>>) | undefined;

  /** @internal */
  constructor(
    items: readonly Item[],
    nextCursor: string | null,
    body: Readonly<Record<string, unknown>>,
    next: (() => Promise<Page<Item>>) | undefined,
  ) {
    this.items = items;
    this.nextCursor = nextCursor;
    this.#body = body;
    this.#next = next;
  }

  /** The whole answer, with the fields that this package does not know of. Printing the page, or its JSON, leaves it out. */
  get body(): Readonly<Record<string, unknown>> {
    return this.#body;
  }

  /** Goes through the items of this page, and on through those of the pages behind it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    for (let page: Page<Item> | null = this; page; page = await page.getNextPage()) yield* page.items;
    return undefined;
  }

  /** Whether there is another page. */
  hasNextPage(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Asks for the next page, with the same filters and the same `limit`. Null on the last page, so that
   * `for (let page = await list; page; page = await page.getNextPage())` visits every one.
   *
   * @throws ActlogError As every call does.
   */
  async getNextPage(): Promise<Page<Item> | null> {
    return this.#next ? this.#next() : null;
  }
}
