import type { Outcome } from '../request/call.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import { RequestPromise, type WithResponse } from '../request/request-promise.ts';
import { CursorTrail } from './cursor-trail.ts';
import { ItemIterator } from './item-iterator.ts';
import { ItemSequence } from './item-sequence.ts';
import { fetchPage, type ListSource } from './list-source.ts';
import type { Page } from './page.ts';
import { iteratePages } from './page-iterator.ts';

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
