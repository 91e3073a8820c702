import type { EndpointName } from '@actlog/protocol';
import type { Answer } from './answer.ts';
import type { Outcome } from './call.ts';
import type { Caller } from './caller.ts';
import type { CursorTrail } from './cursor-trail.ts';
import { itemsOf } from './items-array.ts';
import { Page } from './page.ts';
import type { Query } from './query-string.ts';
import type { ListOptions } from './request-options.ts';
import { wholeNumber } from './settings.ts';

/** A list of the service: how to ask for any of its pages. */
export interface ListSource {
  readonly endpoint: EndpointName;
  readonly id?: string | undefined;
  /** Filters, `limit`, and the `cursor` to start from. */
  readonly query: Query;
  readonly options: ListOptions;
  /**
   * For a record that holds items: what they are. They stand in the array of that name, or else where those of a page
   * would. When left out, the answer is a page of the resource that the path names.
   */
  readonly itemsIn?: string | undefined;
}

/**
 * Asks for one page of a list.
 *
 * @param cursor Where it starts; undefined for where the caller wanted to start.
 * @param trail The way up to here.
 */
export async function fetchPage<Item>(
  caller: Caller,
  source: ListSource,
  cursor: string | undefined,
  trail: CursorTrail,
  signal: AbortSignal | undefined,
): Promise<Outcome<Page<Item>>> {
  const { endpoint, id, itemsIn, options } = source;
  wholeNumber('limit', source.query.limit, 1);
  const query = cursor === undefined ? source.query : { ...source.query, cursor };
  return caller.run(endpoint, { id, query, options: { ...options, signal } }, (answer) => {
    const body = answer.jsonObject();
    const items = itemsIn ? partsOf(body, itemsIn, answer) : itemsOf(body, resourceNameOf(answer), answer);
    const next = nextCursorOf(body, itemsIn !== undefined, answer);
    if (next === null) return new Page(items as Item[], null, body, undefined);
    const ahead = trail.step(next, items.length);
    if (typeof ahead === 'string') throw answer.shapeError(ahead);
    const fetchNext = async () => {
      const { data } = await fetchPage<Item>(caller, source, next, ahead, options.signal);
      return data;
    };
    return new Page(items as Item[], next, body, fetchNext);
  });
}

/** The resource's plural is the last part of a list's path. */
function resourceNameOf(answer: Answer): string {
  return answer.request.path.slice(answer.request.path.lastIndexOf('/') + 1);
}

/** A record has arrays of its own beside its items, so the name goes first; but the specification does not fix it. */
function partsOf(body: Readonly<Record<string, unknown>>, name: string, answer: Answer): unknown[] {
  const items = body[name];
  return Array.isArray(items) ? items : itemsOf(body, name, answer);
}

/** The cursor of a page; null or empty at the end. A page of results always has one (specification, "Page"). */
function nextCursorOf(
  body: Readonly<Record<string, unknown>>,
  mayBeMissing: boolean,
  answer: Answer,
): string | null {
  const cursor = body.nextCursor;
  if (cursor === null || cursor === '') return null;
  if (typeof cursor === 'string') return cursor;
  // A session's detail is no page of results by the specification: without a cursor it holds all events.
  if (cursor === undefined && mayBeMissing) return null;
  const found = cursor === undefined ? 'missing' : `a ${typeof cursor}`;
  throw answer.shapeError(`a page whose nextCursor is ${found}, where a string or null was expected`);
}
