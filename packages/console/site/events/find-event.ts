import type { Actlog } from '@actlog/client';

/** A position between two pages in the events of a session. */
export interface EventPlace {
  /** Cursor of the following page; undefined at the beginning. */
  readonly cursor: string | undefined;
  /** Number of events before it. */
  readonly before: number;
  /** `true` if no event follows. */
  readonly isEnd: boolean;
}

/** Maximum number of events per page of the reference server. */
export const eventPageSize = 200;

/** Maximum number of events to search before asking the user to continue. */
const mostEvents = 20_000;

const beginning: EventPlace = { cursor: undefined, before: 0, isEnd: false };

/**
 * Searches for an event of a session page by page.
 *
 * @param from - position at which to start
 * @returns the position one page before the event's page, so that preceding events are shown too; or the position that
 *   the search reached without finding it
 */
export async function findEvent(
  client: Actlog,
  sessionId: string,
  eventId: string,
  from: EventPlace | undefined,
  signal: AbortSignal,
): Promise<{ readonly place: EventPlace; readonly isFound: boolean }> {
  let place = from === undefined || from.isEnd ? beginning : from;
  const most = place.before + mostEvents;
  let previous = place;
  while (!place.isEnd && place.before < most) {
    const { cursor, before } = place;
    const query = { limit: eventPageSize, ...(cursor !== undefined && { cursor }) };
    const page = await client.sessions.events(sessionId, query, { signal });
    if (page.items.some((event) => event.eventId === eventId)) return { place: previous, isFound: true };
    const { items, nextCursor } = page;
    previous = place;
    place = { cursor: nextCursor ?? undefined, before: before + items.length, isEnd: nextCursor === null };
  }
  return { place, isFound: false };
}
