import type { Caller } from './caller.ts';
import { CursorTrail, repeatedCursor } from './cursor-trail.ts';
import { fetchPage, type ListSource } from './list-source.ts';
import type { Page } from './page.ts';

/** How many cursors a loop remembers one by one, so that it meets a repeated one before it meets its items again. */
const rememberedCursors = 1_000;

/**
 * Goes through the pages of a list. Leaving the loop early ends it: a page that is on its way is aborted, and no
 * other is asked for.
 */
export async function* iteratePages<Item>(
  caller: Caller,
  source: ListSource,
): AsyncGenerator<Page<Item>, undefined> {
  const { signal, prefetch = false } = source.options;
  const recent = new Set<string>();
  // Only a page that is asked for ahead of need can be on its way when the loop is left.
  const ahead = prefetch ? new AbortController() : undefined;
  const forward = () => ahead?.abort(signal?.reason);
  if (ahead && signal?.aborted) forward();
  if (ahead) signal?.addEventListener('abort', forward);
  let trail = new CursorTrail();

  const fetch = async (cursor?: string): Promise<Page<Item>> => {
    const { data, answer } = await fetchPage<Item>(caller, source, cursor, trail, ahead?.signal ?? signal);
    const { nextCursor, items } = data;
    if (nextCursor === null) return data;
    if (recent.has(nextCursor)) throw answer.shapeError(repeatedCursor);
    recent.add(nextCursor);
    const [oldest] = recent;
    if (recent.size > rememberedCursors && oldest !== undefined) recent.delete(oldest);
    trail = trail.step(nextCursor, items.length) as CursorTrail; // fetchPage has refused the other case
    return data;
  };

  try {
    let page: Page<Item> | undefined = await fetch();
    while (page) {
      const { nextCursor }: Page<Item> = page;
      const next: Promise<Page<Item>> | undefined =
        prefetch && nextCursor !== null ? fetch(nextCursor) : undefined;
      next?.catch(() => {}); // met when it is its turn, or of no interest any more
      yield page;
      page = nextCursor === null ? undefined : await (next ?? fetch(nextCursor));
    }
    return undefined;
  } finally {
    signal?.removeEventListener('abort', forward);
    ahead?.abort();
  }
}
