/** One page of a list. Iterate over `items` for this page, or over the page itself to include all following pages. */
export class Page<Item> implements AsyncIterable<Item, undefined> {
  /** Items of the page, whatever name the service gives them. */
  readonly items: readonly Item[];
  /** Start of the next page: pass it as `cursor` to continue later. Null on the last page. */
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

  /**
   * The whole response body, including fields unknown to this package. Not shown when the page is printed or
   * serialized.
   */
  get body(): Readonly<Record<string, unknown>> {
    return this.#body;
  }

  /** Iterates over the items of this page and of all following pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    for (let page: Page<Item> | null = this; page; page = await page.getNextPage()) yield* page.items;
    return undefined;
  }

  /**
   * Returns `true` if there is another page.
   *
   * @example
   * ```ts
   * const page = await client.sessions.list({ limit: 20 });
   * if (page.hasNextPage()) console.log('there are more');
   * ```
   */
  hasNextPage(): boolean {
    return this.#next !== undefined;
  }

  /**
   * Requests the next page, with the same filters and `limit`. Returns null on the last page.
   *
   * @throws ActlogError Under the same conditions as any call.
   *
   * @example
   * ```ts
   * import type { Page, Session } from '@actlog/client';
   *
   * let page: Page<Session> | null = await client.sessions.list();
   * for (; page; page = await page.getNextPage()) console.log(page.items.length);
   * ```
   */
  async getNextPage(): Promise<Page<Item> | null> {
    return this.#next ? this.#next() : null;
  }
}
