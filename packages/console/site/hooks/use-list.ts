import { type Actlog, type RawRequestOptions, ValidationError } from '@actlog/client';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { type LoadOptions, useLoaded } from './use-loaded.ts';
import { type ShownPages, useVisit } from './visit.ts';

/** A page of a list. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  hasNextPage(): boolean;
}

/** Returns a function that requests the pages of a list which only the actlog server has. */
export function serverPages<Page extends Omit<ListedPage<unknown>, 'hasNextPage'>>(
  client: Actlog,
  path: string,
  query: RawRequestOptions['query'],
) {
  return async (page: { readonly cursor?: string; readonly limit?: number }, signal: AbortSignal) => {
    const data = await client.request<Page>('GET', path, { query: { ...query, ...page }, signal });
    return { ...data, hasNextPage: () => data.nextCursor !== null };
  };
}

/** Loaded part of a list. */
export interface Shown<Item> {
  /** Undefined until the first page is loaded. */
  readonly items: readonly Item[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  /** Loads another page. */
  more(): void;
  /** Reloads the shown pages. */
  reload(): void;
}

/** Options for loading a list. */
export interface ListOptions<Item> extends LoadOptions {
  /** `true` if new items are added at the end, so that none of them is visible while there are more pages. */
  readonly growsAtEnd?: boolean;
  /** Number of pages to show initially. Default: 1. */
  readonly firstPages?: number;
  /** Returns the name of an item, so that returning users find the items they saw, after any new ones. */
  readonly nameOf?: (item: Item) => string;
  /** `true` if named items stay in place while new ones are added before them. */
  readonly stays?: boolean;
}

/** Maximum number of additional pages to load if the shown items have moved. */
const pagesFurther = 5;

/** `true` if some previously shown items may follow these items. New items come first. */
function mayGoOn(names: readonly string[], before: ReadonlySet<string>): boolean {
  const found = names.filter((name) => before.has(name)).length;
  const isBeyond = found > 0 && !before.has(names.at(-1) ?? '');
  return found < before.size && !isBeyond;
}

/**
 * Loads the first pages of a list. All of them are reloaded together, so that changes and new items appear in
 * place. The
 * more pages are shown, the less often they are reloaded, so that the load on the service stays the same.
 *
 * @param key - identifies the list among those that the component can show
 * @param list - requests the page at a cursor; the first if it is undefined
 * @param options - reload options; see `useLoaded`
 */
export function useList<Item>(
  key: string,
  list: (page: { readonly cursor?: string }, signal: AbortSignal) => PromiseLike<ListedPage<Item>>,
  { everyMs, version, growsAtEnd = false, firstPages = 1, nameOf, stays = false }: ListOptions<Item> = {},
): Shown<Item> {
  const { lists } = useVisit();
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  const shownBefore = (): ShownPages => lists.get(key) ?? { pages: firstPages, names: new Set() };
  const { pages } = shownBefore();
  const kept = useRef({ key, lists, wanted: 0, pages: [] as readonly ListedPage<Item>[] });
  const seen = useRef(version);
  if (!growsAtEnd || !kept.current.pages.at(-1)?.hasNextPage()) seen.current = version;
  const { data, error, reload } = useLoaded(
    key,
    async (signal) => {
      // Pages that are already shown are not requested again to load another one.
      const isKept = kept.current.key === key && kept.current.lists === lists && kept.current.wanted > 0;
      const isMore = isKept && kept.current.wanted < pages;
      const names = (all: readonly ListedPage<Item>[]) =>
        nameOf ? all.flatMap(({ items }) => items.map(nameOf)) : [];
      const before = isKept && !stays ? new Set<string>() : shownBefore().names;
      const readOn = async (known: readonly ListedPage<Item>[]) => {
        const all = [...known];
        const isWanted = () =>
          all.length < pages || (all.length < pages + pagesFurther && mayGoOn(names(all), before));
        while (isWanted()) {
          const cursor = all.at(-1)?.nextCursor;
          if (cursor === null) break;
          all.push(await list(cursor === undefined ? {} : { cursor }, signal));
        }
        return all;
      };
      const shown = await readOn(isMore ? kept.current.pages : []).catch((error) => {
        // Cursors expire, and a tab may stay open for days.
        if (isMore && error instanceof ValidationError) return readOn([]);
        throw error;
      });
      if (!signal.aborted) {
        kept.current = { key, lists, wanted: pages, pages: shown };
        // Returning users keep the pages they had, and pages that were requested meanwhile are loaded.
        const wanted = Math.max(shownBefore().pages, isKept ? 0 : shown.length);
        lists.set(key, { pages: wanted, names: new Set(names(shown)) });
      }
      return shown;
    },
    { everyMs: everyMs && everyMs * pages, version: `${seen.current} ${pages}` },
  );
  return {
    items: data?.flatMap((page) => page.items),
    error,
    hasMore: data?.at(-1)?.hasNextPage() ?? false,
    more: () => {
      lists.set(key, { ...shownBefore(), pages: Math.max(pages, data?.length ?? 0) + 1 });
      draw();
    },
    reload,
  };
}

/** Maximum number of empty pages that are followed by another request. */
const mostEmptyPages = 20;

/**
 * Returns the first page with items. A service reads a bounded number of items for a page, so with a filter that few
 * pass, a page can be empty and not be the last. After many of them the last empty page is returned.
 */
export async function foundPage<Page extends ListedPage<unknown>>(
  first: PromiseLike<Page>,
  next: (cursor: string) => PromiseLike<Page>,
): Promise<Page> {
  let page = await first;
  for (let empty = 0; empty < mostEmptyPages; empty += 1) {
    if (page.items.length > 0 || page.nextCursor === null) break;
    page = await next(page.nextCursor);
  }
  return page;
}

/**
 * Returns the reference of a form whose fields follow the address, and keep the focus.
 *
 * @param values - values by the name of the field, always with the same names
 */
export function useFilterForm(values: Readonly<Record<string, string>>): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    for (const field of form.current?.querySelectorAll<HTMLInputElement>('[name]') ?? []) {
      field.value = values[field.name] ?? '';
    }
  }, Object.values(values));
  return form;
}
