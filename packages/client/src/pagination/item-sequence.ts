import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';
import { wholeNumber } from '../settings.ts';
import { onEarlyReturn } from './on-early-return.ts';

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
