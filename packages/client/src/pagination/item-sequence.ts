import { InvalidArgumentError } from '../errors/actlog-error.ts';
import { wholeNumber } from '../request/request-options.ts';

/**
 * An async sequence of items. The methods match the platform's iterator helpers (ECMAScript, "Iterator Helper
 * Objects"): callbacks may return promises, items are requested only when needed, and ending the sequence ends its
 * source.
 */
export class ItemSequence<Item> implements AsyncIterable<Item, undefined> {
  readonly #start: () => AsyncIterator<Item, undefined>;

  /** @internal */
  constructor(start: () => AsyncIterator<Item, undefined>) {
    this.#start = start;
  }

  /** Restarts from the first item. */
  [Symbol.asyncIterator](): AsyncIterator<Item, undefined> {
    return this.#start();
  }

  /**
   * Returns the results of calling the function on each item, one after the other. For several at a time, see
   * `mapConcurrent` of `@actlog/client/scripts`.
   *
   * @example
   * ```ts
   * const ids = client.sessions.list().map((session) => session.id);
   * for await (const id of ids) console.log(id);
   * ```
   */
  map<Result>(change: (item: Item, index: number) => Result | Promise<Result>): ItemSequence<Result> {
    return this.#derive(async function* (items) {
      let index = 0;
      for await (const item of items) yield await change(item, index++);
    });
  }

  /**
   * Returns the items for which the function returns true.
   *
   * @example
   * ```ts
   * const failing = client.sessions.list().filter(({ errorCount = 0 }) => errorCount > 0);
   * ```
   */
  filter<Kept extends Item>(keep: (item: Item, index: number) => item is Kept): ItemSequence<Kept>;
  filter(keep: (item: Item, index: number) => boolean | Promise<boolean>): ItemSequence<Item>;
  filter(keep: (item: Item, index: number) => boolean | Promise<boolean>): ItemSequence<Item> {
    return this.#derive(async function* (items) {
      let index = 0;
      for await (const item of items) if (await keep(item, index++)) yield item;
    });
  }

  /**
   * Returns at most `limit` items from the start.
   *
   * @throws InvalidArgumentError When the limit is not a non-negative integer.
   *
   * @example
   * ```ts
   * for await (const session of client.sessions.list().take(10)) console.log(session.id);
   * ```
   */
  take(limit: number): ItemSequence<Item> {
    wholeNumber('limit', limit);
    return this.#derive(async function* (items) {
      if (limit === 0) return;
      let left = limit;
      for await (const item of items) {
        yield item;
        left -= 1;
        if (left === 0) return;
      }
    });
  }

  /**
   * Returns all items as an array, or the first `limit` of them. Lists of the service can be very long, so pass a limit
   * unless the list is known to be short.
   *
   * @throws InvalidArgumentError When the limit is not a non-negative integer.
   *
   * @example
   * ```ts
   * const newest = await client.sessions.list().toArray({ limit: 10 });
   * ```
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<Item[]> {
    if (typeof options !== 'object')
      throw new InvalidArgumentError('toArray takes an options object, such as { limit: 10 }.');
    const { limit } = options;
    const items: Item[] = [];
    for await (const item of limit === undefined ? this : this.take(limit)) items.push(item);
    return items;
  }

  #derive<Result>(steps: (items: AsyncIterable<Item>) => AsyncGenerator<Result, void>): ItemSequence<Result> {
    return new ItemSequence(() => {
      const source = this.#start();
      const items = { [Symbol.asyncIterator]: () => source };
      // End the source at once, so that a page request in progress is aborted.
      const endSource = () => void source.return?.().catch(() => {});
      return onEarlyReturn(steps(items) as AsyncGenerator<Result, undefined>, endSource);
    });
  }
}

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

/**
 * Calls `onReturn` as soon as `return` or `throw` is called on a generator. The generator itself only notices once its
 * pending `next` settles, which for a page is when the page arrives.
 *
 * @param onReturn Cancels the operation that the generator is waiting for.
 */
export function onEarlyReturn<Item>(
  generator: AsyncGenerator<Item, undefined>,
  onReturn: () => void,
): AsyncGenerator<Item, undefined> {
  for (const name of ['return', 'throw'] as const) {
    const own = generator[name].bind(generator);
    generator[name] = (value) => {
      onReturn();
      return own(value);
    };
  }
  return generator;
}
