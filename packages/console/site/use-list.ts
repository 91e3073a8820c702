import type { List } from '@actlog/client';
import { useState } from 'preact/hooks';
import { type LoadOptions, useLoaded } from './use-loaded.ts';

/** What a list has shown so far. */
export interface Shown<Item> {
  /** Undefined until the first page has come. */
  readonly items: readonly Item[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  /** Shows a page more. */
  more(): void;
  /** Asks for what is shown again. */
  reload(): void;
}

/**
 * The first pages of a list, as many as were asked for. They are asked for anew as a whole, so that what has changed
 * or has come meanwhile is shown where it belongs.
 *
 * @param key - tells this list from others that the same component may show
 * @param options - when to ask again; see `useLoaded`
 */
export function useList<Item>(
  key: string,
  list: (signal: AbortSignal) => List<Item>,
  options: LoadOptions = {},
): Shown<Item> {
  const [wanted, setWanted] = useState({ key, pages: 1 });
  const pages = wanted.key === key ? wanted.pages : 1;
  const { data, error, reload } = useLoaded(
    key,
    async (signal) => {
      const items: Item[] = [];
      let page = await list(signal);
      for (let count = 1; ; count += 1) {
        items.push(...page.items);
        const next = count < pages ? await page.getNextPage() : null;
        if (next === null) return { items, hasMore: page.hasNextPage() };
        page = next;
      }
    },
    { ...options, version: `${options.version} ${pages}` },
  );
  return {
    items: data?.items,
    error,
    hasMore: data?.hasMore ?? false,
    more: () => setWanted({ key, pages: pages + 1 }),
    reload,
  };
}
