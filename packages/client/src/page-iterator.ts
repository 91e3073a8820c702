import { checkedSignal } from './abort-signal.ts';
import type { Caller } from './caller.ts';
import { CursorTrail, repeatedCursor } from './cursor-trail.ts';
import { fetchPage, type ListSource } from './list-source.ts';
import { onLeaving } from './on-leaving.ts';
import type { Page } from './page.ts';

/** How many cursors a loop remembers one by one, so that it meets a repeated one before it meets its items again. */
const rememberedCursors = 1_000;

/**
 * Goes through the pages of a list. Leaving the loop early ends it: a page that is on its way is aborted, and no
 * other is asked for.
 */
export function iteratePages<Item>(
  caller: Caller,
  source: ListSource,
): AsyncGenerator<Page<Item>, undefined> {
  const left = new AbortController();
  return onLeaving(pagesOf<Item>(caller, source, left), () => left.abort(left));
}

/** @param left Aborted with itself for a reason, when nobody waits for a page any more. */
async function* pagesOf<Item>(
  caller: Caller,
  source: ListSource,
  left: AbortController,
): AsyncGenerator<Page<Item>, undefined> {
  const { prefetch = false } = source.options;
  const signal = checkedSignal(source.options.signal);
  const recent = new Set<string>();
  const forward = () => left.abort(signal?.reason);
  let trail = new CursorTrail();

  const fetch = async (cursor?: string): Promise<Page<Item>> => {
    if (signal?.aborted) forward();
    // Only while a page is on its way: an iterator may be dropped without being left.
    signal?.addEventListener('abort', forward);
    const asked = fetchPage<Item>(caller, source, cursor, trail, left.signal);
    const { data, answer } = await asked.finally(() => signal?.removeEventListener('abort', forward));
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
      if (signal?.aborted) await fetch(); // fails before anything is sent
      page = nextCursor === null ? undefined : await (next ?? fetch(nextCursor));
    }
    return undefined;
  } catch (error) {
    if (left.signal.reason === left) return undefined; // whoever asked for this page has left
    throw error;
  } finally {
    left.abort(left);
  }
}
