import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { onLeaving } from './on-leaving.ts';
import { wholeNumber } from './settings.ts';

/**
 * Items that come one after another. The methods have the names and the meaning of the platform's own iterator
 * helpers (ECMAScript, "Iterator Helper Objects"): they take functions that may return promises, ask for no item
 * before it is needed, and end the source when they end.
 */
export class ItemSequence<Item> implements AsyncIterable<Item, undefined> {
  readonly #start: () => AsyncIterator<Item, undefined>;

  /** @internal */
  constructor(start: () => AsyncIterator<Item, undefined>) {
    this.#start = start;
  }

  /** Starts anew from the first item. */
  [Symbol.asyncIterator](): AsyncIterator<Item, undefined> {
    return this.#start();
  }

  /** What the function makes of each item. */
  map<Result>(change: (item: Item, index: number) => Result | Promise<Result>): ItemSequence<Result> {
    return this.#derive(async function* (items) {
      let index = 0;
      for await (const item of items) yield await change(item, index++);
    });
  }

  /** The items for which the function says true. */
  filter<Kept extends Item>(keep: (item: Item, index: number) => item is Kept): ItemSequence<Kept>;
  filter(keep: (item: Item, index: number) => boolean | Promise<boolean>): ItemSequence<Item>;
  filter(keep: (item: Item, index: number) => boolean | Promise<boolean>): ItemSequence<Item> {
    return this.#derive(async function* (items) {
      let index = 0;
      for await (const item of items) if (await keep(item, index++)) yield item;
    });
  }

  /**
   * The first items, so many at the most.
   *
   * @throws InvalidArgumentError When the number is no whole number from 0.
   */
  take(most: number): ItemSequence<Item> {
    wholeNumber('limit', most);
    return this.#derive(async function* (items) {
      if (most === 0) return;
      let left = most;
      for await (const item of items) {
        yield item;
        left -= 1;
        if (left === 0) return;
      }
    });
  }

  /**
   * All items in an array, or the first `limit` of them. A list of the service can be very long: give a limit unless
   * you know that it is not.
   *
   * @throws InvalidArgumentError When the limit is no whole number from 0.
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<Item[]> {
    if (typeof options !== 'object') throw new InvalidArgumentError('toArray takes an object: { limit }.');
    const { limit } = options;
    const items: Item[] = [];
    for await (const item of limit === undefined ? this : this.take(limit)) items.push(item);
    return items;
  }

  #derive<Result>(steps: (items: AsyncIterable<Item>) => AsyncGenerator<Result, void>): ItemSequence<Result> {
    return new ItemSequence(() => {
      const source = this.#start();
      const items = { [Symbol.asyncIterator]: () => source };
      // The source learns at once that nobody waits for it any more, so that a page on its way is aborted.
      const leave = () => void source.return?.().catch(() => {});
      return onLeaving(steps(items) as AsyncGenerator<Result, undefined>, leave);
    });
  }
}
