import type { EndpointName } from '@actlog/protocol';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import { checkedSignal, type ListOptions, type Query, wholeNumber } from '../request/request-options.ts';
import { type Outcome, RequestPromise, type WithResponse } from '../request/request-promise.ts';
import type { ApiResponse } from '../response/api-response.ts';
import { ItemSequence, onEarlyReturn, Page } from './item-sequence.ts';

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

/** Endpoint and query of a list, enough to request any of its pages. */
interface ListSource {
  readonly endpoint: EndpointName;
  readonly id?: RecordId | undefined;
  /** Filters, `limit`, and the `cursor` of the first page. */
  readonly query: Query;
  readonly options: ListOptions;
  /**
   * Name of the items inside a record. They are in the array of that name, or else in the one where a page's items
   * would be. If omitted, the response is a page of the resource that the path names.
   */
  readonly itemsIn?: string | undefined;
}

/**
 * Requests one page of a list.
 *
 * @param cursor Start of the page; undefined for the caller's own start.
 * @param trail Cursors of the pages before it.
 */
async function fetchPage<Item>(
  caller: EndpointCaller,
  source: ListSource,
  cursor: string | undefined,
  trail: CursorTrail,
  signal: AbortSignal | undefined,
): Promise<Outcome<Page<Item>>> {
  const { endpoint, id, itemsIn, options } = source;
  wholeNumber('limit', source.query.limit, 1);
  const query = cursor === undefined ? source.query : { ...source.query, cursor };
  return caller.run(endpoint, { id, query, options: { ...options, signal } }, (response) => {
    const body = response.jsonObject();
    // A record has other arrays too, so its own name for the items is tried first, but the specification does not fix it.
    const { array, holder } = namedArray(body, options.itemsKey ?? itemsIn ?? '');
    const items = array ?? itemsOf(body, itemsIn ?? resourceNameOf(response), response, options.itemsKey);
    const withCursor = body.nextCursor === undefined ? holder : body;
    const next = nextCursorOf(withCursor, itemsIn !== undefined, response);
    if (next === null) return new Page(items as Item[], null, body, undefined);
    const ahead = trail.step(next, items.length);
    if (typeof ahead === 'string') throw response.shapeError(ahead);
    const fetchNext = async () => {
      const { data } = await fetchPage<Item>(caller, source, next, ahead, options.signal);
      return data;
    };
    return new Page(items as Item[], next, body, fetchNext);
  });
}

/** Returns the array under a name, or under the names of a path such as `result.agents`, and the object that holds it. */
function namedArray(
  body: Readonly<Record<string, unknown>>,
  key: string,
): { readonly array?: unknown[]; readonly holder: Readonly<Record<string, unknown>> } {
  const whole = body[key];
  if (Array.isArray(whole)) return { array: whole, holder: body };
  const names = key.split('.');
  const last = names.pop() ?? '';
  let holder = body;
  for (const name of names) {
    const inner = Object.hasOwn(holder, name) ? holder[name] : undefined;
    if (typeof inner !== 'object' || inner === null) return { holder: body };
    holder = inner as Readonly<Record<string, unknown>>;
  }
  const array = Object.hasOwn(holder, last) ? holder[last] : undefined;
  return Array.isArray(array) ? { array, holder } : { holder: body };
}

/** Returns the plural of the resource, which is the last segment of a list's path. */
function resourceNameOf(response: ApiResponse): string {
  return response.request.path.slice(response.request.path.lastIndexOf('/') + 1);
}

/**
 * Returns the cursor of the next page, or null at the end. A page of results always has one (specification, "Page").
 */
function nextCursorOf(
  body: Readonly<Record<string, unknown>>,
  mayBeMissing: boolean,
  response: ApiResponse,
): string | null {
  const cursor = body.nextCursor;
  if (cursor === null || cursor === '') return null;
  if (typeof cursor === 'string') return cursor;
  // The specification does not define a session's detail as a page of results: without a cursor it contains all events.
  if (cursor === undefined && mayBeMissing) return null;
  const found = cursor === undefined ? 'missing' : `a ${typeof cursor}`;
  throw response.shapeError(`a page whose nextCursor is ${found} instead of a string or null`);
}

/** Common names for the items of a page. They take precedence over other arrays. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/**
 * Finds the items of a page. The specification does not fix the array's name, so it is the page's only array or, if
 * there are several, the one with a known name.
 *
 * @param resourceName Plural of the resource as spelled in the path, such as `pending-actions`.
 * @param itemsKey Name that the caller gave, under which the page has no array.
 * @throws ResponseShapeError When there is no array, or several but none with a known name, or the caller gave a name.
 */
function itemsOf(
  body: Readonly<Record<string, unknown>>,
  resourceName: string,
  response: ApiResponse,
  itemsKey?: string,
): unknown[] {
  if (itemsKey !== undefined) throw response.shapeError(`a page without an array ${itemsKey} (itemsKey)`);
  const arrays = Object.keys(body).filter((name) => Array.isArray(body[name]));
  const camelCase = resourceName.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
  const snakeCase = resourceName.replaceAll('-', '_');
  const known = [...commonNames, resourceName, camelCase, snakeCase].find((name) => arrays.includes(name));
  const name = arrays.length === 1 ? arrays[0] : known;
  if (name !== undefined) return body[name] as unknown[];
  throw response.shapeError(
    arrays.length === 0
      ? 'a page without an array of items'
      : `a page with ${arrays.length} arrays, none named ${commonNames.join(', ')} or ${camelCase}`,
  );
}

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
