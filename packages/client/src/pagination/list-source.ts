import type { EndpointName } from '@actlog/protocol';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import { type ListOptions, type Query, wholeNumber } from '../request/request-options.ts';
import type { Outcome } from '../request/request-promise.ts';
import type { ApiResponse } from '../response/api-response.ts';
import { Page } from './item-sequence.ts';

/** Endpoint and query of a list, enough to request any of its pages. */
export interface ListSource {
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
export async function fetchPage<Item>(
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
