import type { StoredEvent } from '@actlog/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from './use-list.ts';

/** An event that the person wants to see; another wish for the same event is another object. */
export interface WantedEvent {
  readonly eventId: string;
}

/** Events that are asked for at most, beyond those that are shown, to come to the one that is wanted. */
const mostEvents = 5000;

/** The id that the row of an event has in the page. */
export function rowId(eventId: string): string {
  return `event-${eventId}`;
}

/**
 * Brings an event into view, with the pages of the list before it where they are not shown yet; or the heading of the
 * events, where it stands too far behind or is not there any more.
 *
 * @returns how many events it was looked for among, and not found; undefined where it was
 */
export function useEventInView(
  shown: Shown<StoredEvent>,
  wanted: WantedEvent | undefined,
): number | undefined {
  const [missed, setMissed] = useState<{ wanted: WantedEvent; among: number }>();
  const { items, error, hasMore, more } = shown;
  const search = useRef<{
    wanted?: WantedEvent;
    from: Element | null;
    asked: number;
    most: number;
    isOver: boolean;
  }>({ from: null, asked: 0, most: 0, isOver: true });
  useLayoutEffect(() => {
    if (wanted === undefined || items === undefined) return;
    if (search.current.wanted !== wanted) {
      const from = document.activeElement;
      search.current = { wanted, from, asked: -1, most: items.length + mostEvents, isOver: false };
    }
    const { from, asked, most, isOver } = search.current;
    if (isOver || (asked === items.length && error === undefined)) return;
    const row = document.getElementById(rowId(wanted.eventId));
    if (row === null && hasMore && items.length < most && error === undefined) {
      search.current.asked = items.length;
      more();
      return;
    }
    search.current.isOver = true;
    if (row === null) setMissed({ wanted, among: items.length });
    // Who has gone on to something else meanwhile is not drawn away from it.
    if (document.activeElement !== from && document.activeElement !== document.body) return;
    const target = row ?? document.getElementById('events');
    target?.scrollIntoView({ block: 'center' });
    target?.focus({ preventScroll: true });
  });
  return missed?.wanted === wanted ? missed?.among : undefined;
}
