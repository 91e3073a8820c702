import type { EndpointName, ListEndpointName } from '@actlog/protocol';
import { type ApiResponse, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';

/** Result of walking through a list. */
export interface ListWalk {
  readonly pages: readonly ApiResponse[];
  readonly items: readonly unknown[];
  /** `true` if the last page was reached. */
  readonly ended: boolean;
  /** `true` if a cursor was repeated. */
  readonly repeatsCursor: boolean;
  /** Response to a cursor that was rejected although the previous page returned it. */
  readonly refused?: ApiResponse;
}

/** Options for walking through a list. */
export interface WalkOptions {
  readonly id?: string;
  /** The tenant's key by default. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly maxPages?: number;
  /** Returns `true` to end the walk early. */
  readonly until?: (items: readonly unknown[]) => boolean;
}

/** Follows nextCursor from the first page on; skips the check if a page cannot be read. */
export async function listed(
  { probe, settings }: Pick<Deployment, 'probe' | 'settings'>,
  endpoint: ListEndpointName,
  { id, key, query = {}, maxPages = settings.maxPages, until = () => false }: WalkOptions = {},
): Promise<ListWalk> {
  const pages: ApiResponse[] = [];
  const items: unknown[] = [];
  const followed = new Set<string>();
  let cursor: string | undefined;
  while (pages.length < maxPages) {
    const page = await probe.call(endpoint, {
      ...(id !== undefined && { id }),
      ...(key !== undefined && { key }),
      query: { ...query, cursor },
    });
    if (!succeeded(page) && pages.length > 0) {
      return { pages, items, ended: false, repeatsCursor: false, refused: page };
    }
    if (!succeeded(page)) skip(`the list cannot be read: ${describeResponse(page)}`);
    pages.push(page);
    items.push(...itemsOf(page, endpoint));
    if (until(items)) return { pages, items, ended: false, repeatsCursor: false };
    const next = isObject(page.json) ? page.json.nextCursor : undefined;
    if (next === null) return { pages, items, ended: true, repeatsCursor: false };
    if (typeof next !== 'string') skip('a page has no nextCursor (PAG-01)');
    if (followed.has(next as string)) return { pages, items, ended: false, repeatsCursor: true };
    followed.add(next as string);
    cursor = next as string;
  }
  return { pages, items, ended: false, repeatsCursor: false };
}

/** Common names for the items of a page. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/** An array of a page, by its name; `data.items` for an array within an object of the page. */
type NamedArray = readonly [name: string, array: readonly unknown[]];

function arraysOf(json: unknown): NamedArray[] {
  if (!isObject(json)) return [];
  const direct = Object.entries(json).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  if (direct.length > 0) return direct;
  return Object.entries(json).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value)
          .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
          .map(([inner, array]): NamedArray => [`${name}.${inner}`, array])
      : [],
  );
}

/** `true` if a page has an array that can have its items. */
export function hasArray({ json }: ApiResponse): boolean {
  return arraysOf(json).length > 0;
}

/**
 * Returns the array with a page's items. The specification leaves its name open, so it is the only array of the page
 * or, among several, the one with a common name, or the only one with objects; undefined if it is ambiguous.
 */
export function namedItems(page: ApiResponse, endpoint: EndpointName): NamedArray | undefined {
  const all = arraysOf(page.json);
  if (all.length <= 1) return all[0];
  const plural = endpoint === 'agents.sessions' ? 'sessions' : (endpoint.split('.').at(-2) ?? '');
  const known = [...commonNames, plural];
  const named = known
    .map((name) => all.find(([full]) => full.split('.').at(-1) === name))
    .find((one) => one !== undefined);
  if (named) return named;
  const withObjects = all.filter(([, array]) => array.some(isObject));
  if (withObjects.length === 1) return withObjects[0];
  return all.every(([, array]) => array.length === 0) ? all[0] : undefined;
}

/** Returns the items of a page; skips the check if they are ambiguous. */
export function itemsOf(page: ApiResponse, endpoint: EndpointName): readonly unknown[] {
  const [, items] = namedItems(page, endpoint) ?? [];
  return items ?? skip(`no array of items can be identified (LST-06): ${describeResponse(page)}`);
}
