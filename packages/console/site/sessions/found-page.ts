import type { ListedPage } from '../hooks/use-list.ts';

/** Maximum number of empty pages that are followed by another request. */
const mostEmptyPages = 20;

/**
 * Returns the first page with items. A service reads a bounded number of sessions for a page, so with a filter that few
 * sessions pass, a page can be empty and not be the last. After many of them the last empty page is returned.
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
