import type { Actlog } from '@actlog/client';

/** A place in the events of a session, between two pages of them. */
export interface EventPlace {
  /** Where the page behind it begins; undefined at the beginning. */
  readonly cursor: string | undefined;
  /** How many events stand before it. */
  readonly before: number;
  /** Whether no event stands behind it. */
  readonly isEnd: boolean;
}

/** The most events on a page, as the reference server has it. */
export const eventPageSize = 200;

/** Events that are looked through at most, before the person is asked whether to go on. */
const mostEvents = 20_000;

const beginning: EventPlace = { cursor: undefined, before: 0, isEnd: false };

/**
 * Looks for an event of a session, page by page.
 *
 * @param from - where to begin
 * @returns the place before the page that comes before its own, so that what led to it is seen too; or how far it was
 *   looked for, where it was not found
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
