import type { ListEndpointName } from '@actlog/protocol';
import { type ApiResponse, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';
import { itemsOf } from './page-items.ts';

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
