import { type Actlog, ItemSequence } from '@actlog/client';
import type { RequestOptions } from '../request/request-options.ts';

/** Items per response unless the caller sets a limit. */
export const defaultLimit = 200;

/** A page of a list of the actlog server. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A list of the actlog server. */
export interface ServerList {
  /** Path from the base URL, such as `/server/v1/decisions`. */
  readonly path: string;
  /** Parameters of the query, without the cursor. */
  readonly query: object;
}

/** Returns the items of a list of the actlog server. Pages are requested as they are needed. */
export function serverList<Item>(
  client: Actlog,
  { path, query }: ServerList,
  options: RequestOptions,
): ItemSequence<Item> {
  return new ItemSequence(async function* () {
    let cursor: string | undefined;
    do {
      const page: Page<Item> = await client.request('GET', path, { ...options, query: { ...query, cursor } });
      yield* page.items;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return undefined;
  });
}

/** Formats a time in ISO 8601; returns a string unchanged. */
export function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}
