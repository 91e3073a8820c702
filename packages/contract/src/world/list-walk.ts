import type { EndpointName, ListEndpointName } from '@actlog/protocol';
import { type Answer, isObject, succeeded, told } from '../http/answer.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';

/** Names under which services commonly put the items of a page. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/**
 * The name of the array with a page's items. The specification leaves it open, so it is the page's one array, or,
 * where there are several, the one with a common name; undefined where it cannot be told.
 */
export function itemsName({ json }: Answer, endpoint: EndpointName): string | undefined {
  if (!isObject(json)) return undefined;
  const names = Object.keys(json).filter((name) => Array.isArray(json[name]));
  if (names.length <= 1) return names[0];
  const plural = endpoint === 'agents.sessions' ? 'sessions' : (endpoint.split('.').at(-2) ?? '');
  return [...commonNames, plural].find((name) => names.includes(name));
}

/** The items of a page; skips the check where they cannot be told. */
export function itemsOf(page: Answer, endpoint: EndpointName): unknown[] {
  const name = itemsName(page, endpoint);
  if (name === undefined || !isObject(page.json))
    return skip(`no array of items can be told (LST-06): ${told(page)}`);
  return page.json[name] as unknown[];
}

/** What was seen of a list. */
export interface ListWalk {
  readonly pages: readonly Answer[];
  readonly items: readonly unknown[];
  /** Whether the last page was reached. */
  readonly ended: boolean;
  /** Whether a cursor came back that had been followed before. */
  readonly repeatsCursor: boolean;
  /** The answer to a cursor that was refused, though it came with the page before. */
  readonly refused?: Answer;
}

/** How a list is walked through. */
export interface WalkOptions {
  readonly id?: string;
  /** The tenant's key by default. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly maxPages?: number;
  /** Ends the walk early. */
  readonly until?: (items: readonly unknown[]) => boolean;
}

/** Follows nextCursor from the first page on; skips the check where a page cannot be read. */
export async function listed(
  deployment: Deployment,
  endpoint: ListEndpointName,
  { id, key, query = {}, maxPages = deployment.settings.maxPages, until = () => false }: WalkOptions = {},
): Promise<ListWalk> {
  const pages: Answer[] = [];
  const items: unknown[] = [];
  const followed = new Set<string>();
  let cursor: string | undefined;
  while (pages.length < maxPages) {
    const page = await deployment.probe.call(endpoint, {
      ...(id !== undefined && { id }),
      ...(key !== undefined && { key }),
      query: { ...query, cursor },
    });
    if (!succeeded(page) && pages.length > 0) {
      return { pages, items, ended: false, repeatsCursor: false, refused: page };
    }
    if (!succeeded(page)) skip(`the list cannot be read: ${told(page)}`);
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
