import { type List, type Page, ValidationError } from '@actlog/client';
import { useReducer, useRef } from 'preact/hooks';
import { type LoadOptions, useLoaded } from './use-loaded.ts';
import { type ShownPages, useVisit } from './visit.ts';

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

/** When a list is asked for again. */
export interface ListOptions<Item> extends LoadOptions {
  /** Whether what is new comes behind what is shown, so that none of it is seen while there is more to show. */
  readonly growsAtEnd?: boolean;
  /** How many pages are shown at first. Default 1. */
  readonly firstPages?: number;
  /** Names an item, so that who comes back to the list finds what they saw, with what is new before it. */
  readonly nameOf?: (item: Item) => string;
  /** Whether all that is shown and has a name stays while new ones come before it. */
  readonly stays?: boolean;
}

/** How many pages more are asked for at most, where what was shown has moved on. */
const pagesFurther = 5;

/** Whether some of what was shown, and is in the list still, may stand behind these items. New ones come first. */
function mayGoOn(names: readonly string[], before: ReadonlySet<string>): boolean {
  const found = names.filter((name) => before.has(name)).length;
  const isBeyond = found > 0 && !before.has(names.at(-1) ?? '');
  return found < before.size && !isBeyond;
}

/**
 * The first pages of a list, as many as were asked for. They are asked for anew as a whole, so that what has changed
 * or has come meanwhile is shown where it belongs; the more there are, the more rarely, so that who looks at much
 * asks no more of the service than who looks at little.
 *
 * @param key - tells this list from others that the same component may show
 * @param list - asks for the page that starts at a cursor, the first where it is undefined
 * @param options - when to ask again; see `useLoaded`
 */
export function useList<Item>(
  key: string,
  list: (page: { readonly cursor?: string }, signal: AbortSignal) => List<Item>,
  { everyMs, version, growsAtEnd = false, firstPages = 1, nameOf, stays = false }: ListOptions<Item> = {},
): Shown<Item> {
  const { lists } = useVisit();
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  const shownBefore = (): ShownPages => lists.get(key) ?? { pages: firstPages, names: new Set() };
  const { pages } = shownBefore();
  const kept = useRef({ key, lists, wanted: 0, pages: [] as readonly Page<Item>[] });
  const seen = useRef(version);
  if (!growsAtEnd || !kept.current.pages.at(-1)?.hasNextPage()) seen.current = version;
  const { data, error, reload } = useLoaded(
    key,
    async (signal) => {
      // What is shown already is not asked for again to show a page more.
      const isKept = kept.current.key === key && kept.current.lists === lists && kept.current.wanted > 0;
      const isMore = isKept && kept.current.wanted < pages;
      const names = (all: readonly Page<Item>[]) =>
        nameOf ? all.flatMap(({ items }) => items.map(nameOf)) : [];
      const before = isKept && !stays ? new Set<string>() : shownBefore().names;
      const readOn = async (known: readonly Page<Item>[]) => {
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
        // A cursor does not hold for ever, and a tab may stay open for days.
        if (isMore && error instanceof ValidationError) return readOn([]);
        throw error;
      });
      if (!signal.aborted) {
        kept.current = { key, lists, wanted: pages, pages: shown };
        // Who has come back keeps what they found, and who has asked for more meanwhile gets that.
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
