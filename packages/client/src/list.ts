import type { Outcome } from './call.ts';
import type { Caller } from './caller.ts';
import { CursorTrail } from './cursor-trail.ts';
import { ItemIterator } from './item-iterator.ts';
import { ItemSequence } from './item-sequence.ts';
import { fetchPage, type ListSource } from './list-source.ts';
import type { Page } from './page.ts';
import { iteratePages } from './page-iterator.ts';
import { RequestPromise, type WithResponse } from './request-promise.ts';

/**
 * A list of the service. Loop over it for all its items, await it for its first page, or ask for `pages()`. Nothing
 * is sent before that, and a loop that is left early sends nothing more.
 *
 * ```ts
 * for await (const session of client.sessions.list({ agentId: 'billing' })) console.log(session.id);
 * const page = await client.sessions.list({ limit: 20 });
 * const worst = await client.sessions.list({ minRiskScore: 80 }).toArray({ limit: 10 });
 * ```
 */
export class List<Item> extends ItemSequence<Item> implements Promise<Page<Item>> {
  readonly #caller: Caller;
  readonly #source: ListSource;
  #first: RequestPromise<Page<Item>> | undefined;

  /** @internal */
  constructor(caller: Caller, source: ListSource) {
    super(() => new ItemIterator(iteratePages<Item>(caller, source), source.options.signal));
    this.#caller = caller;
    this.#source = source;
  }

  /** Goes through the pages; every loop asks the service anew. */
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

  /** The first page together with the answer: status, headers, request id. */
  withResponse(): Promise<WithResponse<Page<Item>>> {
    return this.#firstPage().withResponse();
  }

  /** The answer that holds the first page. */
  asResponse(): Promise<Response> {
    return this.#firstPage().asResponse();
  }

  #firstPage(): RequestPromise<Page<Item>> {
    const { options } = this.#source;
    const ask = (): Promise<Outcome<Page<Item>>> =>
      fetchPage(this.#caller, this.#source, undefined, new CursorTrail(), options.signal);
    this.#first ??= new RequestPromise(ask());
    return this.#first;
  }
}
