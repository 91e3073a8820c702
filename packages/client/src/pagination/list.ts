import type { EndpointCaller } from '../request/endpoint-caller.ts';
import { checkedSignal } from '../request/request-options.ts';
import { type Outcome, RequestPromise, type WithResponse } from '../request/request-promise.ts';
import { ItemSequence, onEarlyReturn, type Page } from './item-sequence.ts';
import { CursorTrail, fetchPage, type ListSource, repeatedCursor } from './list-source.ts';

/**
 * A list of the service. Iterate over it to get all items, await it to get the first page, or call `pages()`. It sends
 * nothing before that, and ending a loop early sends nothing more.
 *
 * ```ts
 * for await (const session of client.sessions.list({ agentId: 'billing' })) console.log(session.id);
 * const page = await client.sessions.list({ limit: 20 });
 * const worst = await client.sessions.list({ minRiskScore: 80 }).toArray({ limit: 10 });
 * ```
 */
export class List<Item> extends ItemSequence<Item> implements Promise<Page<Item>> {
  readonly #caller: EndpointCaller;
  readonly #source: ListSource;
  #first: RequestPromise<Page<Item>> | undefined;

  /** @internal */
  constructor(caller: EndpointCaller, source: ListSource) {
    super(() => new ItemIterator(iteratePages<Item>(caller, source), source.options.signal));
    this.#caller = caller;
    this.#source = source;
  }

  /**
   * Gives the items another type, for a service whose records have other fields. Nothing is checked.
   *
   * @example
   * ```ts
   * const agents = client.agents.list({}, { itemsKey: 'rows' }).as<{ number: number; displayName: string }>();
   * for await (const agent of agents) console.log(agent.displayName);
   * ```
   */
  as<Other>(): List<Other> {
    return this as unknown as List<Other>;
  }

  /**
   * Iterates over the pages. Every loop starts with a new request.
   *
   * @example
   * ```ts
   * for await (const { items, nextCursor } of client.sessions.list({ limit: 100 }).pages()) {
   *   console.log(items.length, nextCursor);
   * }
   * ```
   */
  pages(): AsyncIterableIterator<Page<Item>, undefined> {
    return iteratePages<Item>(this.#caller, this.#source);
  }

  get [Symbol.toStringTag](): string {
    return 'List';
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list gives its first page
  then<Result = Page<Item>, Failure = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as the platform's own promise has it
    onRejected?: ((reason: any) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  catch<Failure = never>(
    // biome-ignore lint/suspicious/noExplicitAny: as the platform's own promise has it
    onRejected?: ((reason: any) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Page<Item>> {
    return this.then().finally(onFinally);
  }

  /**
   * Returns the first page with its response: status, headers and request id.
   *
   * @example
   * ```ts
   * const { data: page, requestId } = await client.agents.list().withResponse();
   * ```
   */
  withResponse(): Promise<WithResponse<Page<Item>>> {
    return this.#firstPage().withResponse();
  }

  /**
   * Returns the response of the first page.
   *
   * @example
   * ```ts
   * const response = await client.agents.list().asResponse();
   * ```
   */
  asResponse(): Promise<Response> {
    return this.#firstPage().asResponse();
  }

  #firstPage(): RequestPromise<Page<Item>> {
    const { options } = this.#source;
    const request = (): Promise<Outcome<Page<Item>>> =>
      fetchPage(this.#caller, this.#source, undefined, new CursorTrail(), options.signal);
    this.#first ??= new RequestPromise(request());
    return this.#first;
  }
}

/** Number of recent cursors that a loop remembers, so that it detects most cycles before items repeat. */
const rememberedCursors = 1_000;

/** Iterates over the pages of a list. Ending the loop early aborts a page request in progress and sends no other. */
function iteratePages<Item>(
  caller: EndpointCaller,
  source: ListSource,
): AsyncGenerator<Page<Item>, undefined> {
  const left = new AbortController();
  return onEarlyReturn(pagesOf<Item>(caller, source, left), () => left.abort(left));
}

/** @param left Aborted, with itself as the reason, when the loop has ended. */
async function* pagesOf<Item>(
  caller: EndpointCaller,
  source: ListSource,
  left: AbortController,
): AsyncGenerator<Page<Item>, undefined> {
  const { prefetch = false } = source.options;
  const signal = checkedSignal(source.options.signal);
  const recent = new Set<string>();
  const forward = () => left.abort(signal?.reason);
  let trail = new CursorTrail();

  const fetch = async (cursor?: string): Promise<Page<Item>> => {
    if (signal?.aborted) forward();
    // Only while a request is running: an iterator may be dropped without being closed.
    signal?.addEventListener('abort', forward);
    const request = fetchPage<Item>(caller, source, cursor, trail, left.signal);
    const { data, response } = await request.finally(() => signal?.removeEventListener('abort', forward));
    const { nextCursor, items } = data;
    if (nextCursor === null) return data;
    if (recent.has(nextCursor)) throw response.shapeError(repeatedCursor);
    recent.add(nextCursor);
    const [oldest] = recent;
    if (recent.size > rememberedCursors && oldest !== undefined) recent.delete(oldest);
    trail = trail.step(nextCursor, items.length) as CursorTrail; // fetchPage throws in the other case
    return data;
  };

  try {
    let page: Page<Item> | undefined = await fetch();
    while (page) {
      const { nextCursor }: Page<Item> = page;
      const next: Promise<Page<Item>> | undefined =
        prefetch && nextCursor !== null ? fetch(nextCursor) : undefined;
      next?.catch(() => {}); // handled when the page is used, or irrelevant after the loop has ended
      yield page;
      if (signal?.aborted) await fetch(); // throws before anything is sent
      page = nextCursor === null ? undefined : await (next ?? fetch(nextCursor));
    }
    return undefined;
  } catch (error) {
    if (left.signal.reason === left) return undefined; // the loop has ended
    throw error;
  } finally {
    left.abort(left);
  }
}

/**
 * Iterates over the items of a list's pages. A class instead of an async generator, which needs three microtasks per
 * item where this needs one.
 */
class ItemIterator<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #pages: AsyncGenerator<Page<Item>, undefined>;
  readonly #signal: AbortSignal | undefined;
  #items: readonly Item[] = [];
  #at = 0;
  #ended = false;
  #turn: Promise<IteratorResult<Item, undefined>> | undefined;
  #waiting = 0;

  /** @param signal The same signal as that of the pages, which fail when it is aborted. */
  constructor(pages: AsyncGenerator<Page<Item>, undefined>, signal: AbortSignal | undefined) {
    this.#pages = pages;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#signal?.aborted) this.#items = []; // after an abort, skip the buffered items
    if (this.#turn === undefined && this.#at < this.#items.length) {
      const value = this.#items[this.#at] as Item;
      this.#at += 1;
      return Promise.resolve({ done: false, value });
    }
    this.#waiting += 1;
    this.#turn = this.#advance(this.#turn);
    return this.#turn;
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#end();
    await this.#pages.return(undefined);
    return { done: true, value: undefined };
  }

  #end(): void {
    this.#ended = true;
    this.#items = [];
    this.#at = 0;
  }

  /** Fetches pages until there is an item. Concurrent calls are queued. */
  async #advance(before: Promise<unknown> | undefined): Promise<IteratorResult<Item, undefined>> {
    await before?.catch(() => {});
    try {
      while (!this.#ended && this.#at >= this.#items.length) {
        const { done, value } = await this.#pages.next();
        if (done || this.#ended) this.#end();
        else {
          this.#items = value.items;
          this.#at = 0;
        }
      }
      if (this.#ended) return { done: true, value: undefined };
      const value = this.#items[this.#at] as Item;
      this.#at += 1;
      return { done: false, value };
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#turn = undefined;
    }
  }
}
