import { maxSliceBytes, type Slice } from '../queries/slice.ts';
import type { Database } from '../transaction.ts';
import { containsText, passingSessions } from './session-filter.ts';
import type { SessionListOptions } from './session-list-options.ts';
import type { SessionPlace } from './session-place.ts';
import { findSessions, type SessionSummary } from './session-store.ts';
import { walkSessions } from './session-walk.ts';

/**
 * Maximum index entries that one request reads. A list whose filters few sessions pass ends its page there, maybe
 * without a session, and continues on the next page. Few enough that other requests wait for some milliseconds only: on
 * SQLite, reads share a thread.
 */
export const maxWalkedSessions = 2000;

/** Factor by which each step reads more entries than the one before. */
const growth = 4;

/** A slice of a list of sessions, and the place after which the next one starts. */
export interface SessionSlice extends Slice<SessionSummary> {
  /** Set unless the next slice starts after the last row. */
  readonly end?: SessionPlace | undefined;
}

interface Found {
  readonly place: SessionPlace;
  readonly size: number;
}

/**
 * Lists sessions by filters or an order that no single index serves: it reads an index in the order of the list, and
 * looks up the sessions of its entries. The number of entries is bounded, so a request costs the same in a list of a
 * million sessions as in a list of ten thousand.
 */
export async function searchSessions(db: Database, options: SessionListOptions): Promise<SessionSlice> {
  const { limit, idContains } = options;
  const found: Found[] = [];
  let at = options.after;
  let isEnd = false;
  let walked = 0;
  for (let step = limit + 1; found.length <= limit && walked < maxWalkedSessions && !isEnd; step *= growth) {
    const count = Math.min(step, maxWalkedSessions - walked);
    const places = await walkSessions(db, options, at, count);
    const candidates =
      idContains === undefined ? places : places.filter(({ id }) => containsText(id, idContains));
    const sizes = await passingSessions(
      db,
      options,
      candidates.map(({ id }) => id),
    );
    for (const place of candidates) {
      const size = sizes.get(place.id);
      if (size !== undefined) found.push({ place, size });
    }
    walked += places.length;
    isEnd = places.length < count;
    at = places.at(-1) ?? at;
  }
  const page = withinBytes(found.slice(0, limit));
  const isCut = page.length < found.length;
  const summaries = await findSessions(
    db,
    options.tenantId,
    page.map(({ place }) => place.id),
  );
  const rows = page.flatMap(({ place }) => summaries.get(place.id) ?? []);
  return { rows, hasMore: isCut || !isEnd, end: isCut ? page.at(-1)?.place : at };
}

/** Returns the first sessions whose large columns fit in one response; at least one. */
function withinBytes(found: readonly Found[]): readonly Found[] {
  let bytes = 0;
  const end = found.findIndex(({ size }, index) => {
    bytes += size;
    return index > 0 && bytes > maxSliceBytes;
  });
  return end === -1 ? found : found.slice(0, end);
}
