import { checkedSignal } from '../request/abort-signal.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import { CursorTrail, repeatedCursor } from './cursor-trail.ts';
import { fetchPage, type ListSource } from './list-source.ts';
import { onEarlyReturn } from './on-early-return.ts';
import type { Page } from './page.ts';

/** Number of recent cursors that a loop remembers, so that it detects most cycles before items repeat. */
const rememberedCursors = 1_000;

/** Iterates over the pages of a list. Ending the loop early aborts a page request in progress and sends no other. */
export function iteratePages<Item>(
  caller: EndpointCaller,
  source: ListSource,
): AsyncGenerator<Page<Item>, undefined> {
  const left = new AbortController();
  return onEarlyReturn(pagesOf<Item>(caller, source, left), () => left.abort(left));
}

/** @param left Aborted, with itself as the reason, when the loop has ended. */
async function* pagesOf<Item>(
  caller: EndpointCaller,
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
    // Only while a request is running: an iterator may be dropped without being closed.
    signal?.addEventListener('abort', forward);
    const request = fetchPage<Item>(caller, source, cursor, trail, left.signal);
    const { data, response } = await request.finally(() => signal?.removeEventListener('abort', forward));
    const { nextCursor, items } = data;
    if (nextCursor === null) return data;
    if (recent.has(nextCursor)) throw response.shapeError(repeatedCursor);
    recent.add(nextCursor);
    const [oldest] = recent;
    if (recent.size > rememberedCursors && oldest !== undefined) recent.delete(oldest);
    trail = trail.step(nextCursor, items.length) as CursorTrail; // fetchPage throws in the other case
    return data;
  };

  try {
    let page: Page<Item> | undefined = await fetch();
    while (page) {
      const { nextCursor }: Page<Item> = page;
      const next: Promise<Page<Item>> | undefined =
        prefetch && nextCursor !== null ? fetch(nextCursor) : undefined;
      next?.catch(() => {}); // handled when the page is used, or irrelevant after the loop has ended
      yield page;
      if (signal?.aborted) await fetch(); // throws before anything is sent
      page = nextCursor === null ? undefined : await (next ?? fetch(nextCursor));
    }
    return undefined;
  } catch (error) {
    if (left.signal.reason === left) return undefined; // the loop has ended
    throw error;
  } finally {
    left.abort(left);
  }
}
