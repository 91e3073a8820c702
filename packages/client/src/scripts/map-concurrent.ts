import { invalidValue } from '../errors/actlog-error.ts';

/** Options of `mapConcurrent`. */
export interface MapConcurrentOptions {
  /** Maximum number of items that are being changed, or whose results wait to be used. Default 8. */
  readonly concurrency?: number | undefined;
}

/** Second argument of the function that `mapConcurrent` calls. */
export interface ConcurrentCall {
  /** Position of the item, from 0. */
  readonly index: number;
  /** Aborted when the loop ends early or another call has failed. Pass it to the calls of the client. */
  readonly signal: AbortSignal;
}

/**
 * Calls a function on the items of a list or of any other iterable, several at a time, and gives the results in the
 * order of the items. Items are taken only as results are used, so that memory stays constant. The first failure is
 * thrown in its turn. Ending the loop early ends the source, and aborts the calls that are running.
 *
 * JavaScript has no such function: the iterator helpers of the language work on one item at a time, and `Readable.map`
 * of Node is experimental.
 *
 * @throws InvalidArgumentError When `concurrency` is not an integer of at least 1.
 *
 * @example
 * ```ts
 * const sessions = client.sessions.list({ limit: 100 });
 * const risks = mapConcurrent(sessions, ({ id }, { signal }) => client.sessions.risk(id, { signal }));
 * for await (const { sessionId, score } of risks) console.log(sessionId, score);
 * ```
 */
export function mapConcurrent<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  change: (item: Item, call: ConcurrentCall) => Result | PromiseLike<Result>,
  { concurrency = 8 }: MapConcurrentOptions = {},
): AsyncIterableIterator<Awaited<Result>, undefined> {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw invalidValue('concurrency', 'an integer of at least 1', concurrency);
  }
  return new ConcurrentResults(items, change, concurrency);
}

/** Result of one item, or the end of the items. */
type Step<Result> = IteratorResult<Awaited<Result>, undefined>;

const done = { done: true, value: undefined } as const;

/** A class instead of an async generator, whose `return` would wait for the call in progress. */
class ConcurrentResults<Item, Result> implements AsyncIterableIterator<Awaited<Result>, undefined> {
  readonly #items: AsyncIterable<Item> | Iterable<Item>;
  readonly #change: (item: Item, call: ConcurrentCall) => Result | PromiseLike<Result>;
  readonly #concurrency: number;
  readonly #left = new AbortController();
  /** Settles for all waiting calls of `next` when the caller ends the loop. */
  readonly #ended = Promise.withResolvers<Step<Result>>();
  #source: AsyncIterator<Item> | Iterator<Item> | undefined;
  #isExhausted = false;
  #index = 0;
  /** Results in the order of their items, none of which has been used. */
  readonly #queue: Promise<Step<Result>>[] = [];
  /** Settles when the previous item has arrived, because not every iterator supports concurrent calls of `next`. */
  #arrived: Promise<unknown> = Promise.resolve();
  /** Settles when the previous call of `next` has its result. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    items: AsyncIterable<Item> | Iterable<Item>,
    change: (item: Item, call: ConcurrentCall) => Result | PromiseLike<Result>,
    concurrency: number,
  ) {
    this.#items = items;
    this.#change = change;
    this.#concurrency = concurrency;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step<Result>> {
    const step = this.#turn.then(() => Promise.race([this.#ended.promise, this.#advance()]));
    this.#turn = step.catch(() => {});
    return step;
  }

  async return(): Promise<Step<Result>> {
    this.#end();
    this.#ended.resolve(done);
    return done;
  }

  async #advance(): Promise<Step<Result>> {
    while (!this.#isExhausted && this.#queue.length < this.#concurrency) this.#start();
    try {
      const step = (await this.#queue.shift()) ?? done;
      if (step.done) this.#end();
      return step;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Takes an item and starts the call for it. */
  #start(): void {
    const arrived = this.#arrived.then(() => this.#take());
    this.#arrived = arrived.catch(() => {});
    const { signal } = this.#left;
    const result = arrived.then(async (item): Promise<Step<Result>> => {
      if (item.done) return done;
      const index = this.#index;
      this.#index += 1;
      return { done: false, value: await this.#change(item.value, { index, signal }) };
    });
    result.catch(() => {}); // thrown in its turn, or irrelevant after the loop has ended
    this.#queue.push(result);
  }

  async #take(): Promise<IteratorResult<Item, unknown>> {
    if (this.#isExhausted) return done;
    try {
      this.#source ??= iteratorOf(this.#items);
      const item = await this.#source.next();
      if (item.done) this.#isExhausted = true;
      return item;
    } catch (error) {
      this.#isExhausted = true;
      throw error;
    }
  }

  #end(): void {
    if (this.#left.signal.aborted) return;
    const isSourceOpen = !this.#isExhausted;
    this.#isExhausted = true;
    this.#queue.length = 0;
    this.#left.abort();
    // Ends the source at once, so that a page request in progress is aborted. Its result no longer matters.
    if (isSourceOpen) void endSource(this.#source);
  }
}

function iteratorOf<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncIterator<Item> | Iterator<Item> {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
}

async function endSource(source: AsyncIterator<unknown> | Iterator<unknown> | undefined): Promise<void> {
  try {
    await source?.return?.();
  } catch {
    // the loop has ended already
  }
}
