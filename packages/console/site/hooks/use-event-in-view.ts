import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { type EventPlace, findEvent } from '../events/find-event.ts';

/** An event that the user wants to see; each request is a new object. */
export interface WantedEvent {
  readonly eventId: string;
}

/** State of a search for an event. */
export interface EventSearch {
  /** Position that the search reached without finding it; undefined while searching or if it was found. */
  readonly missed: EventPlace | undefined;
  readonly isLooking: boolean;
  readonly error: unknown;
}

const idle: EventSearch = { missed: undefined, isLooking: false, error: undefined };

/** Returns the element id of an event: that of its row, or of its part in the row of another event. */
export function rowId(eventId: string): string {
  return `event-${eventId}`;
}

/**
 * Brings an event into view. If it is not shown, it is searched for without rendering the events before it,
 * and the list
 * is shown from there. If it is not found, the heading of the events comes into view.
 *
 * @param showFrom - shows the list from a position
 */
export function useEventInView(
  sessionId: string,
  wanted: WantedEvent | undefined,
  showFrom: (place: EventPlace) => void,
): EventSearch {
  const { client } = useConnection();
  const [state, setState] = useState(idle);
  const reached = useRef<{ eventId: string; place: EventPlace }>(undefined);
  const focused = useRef<Element | null>(null);
  /** Element to bring into view. */
  const target = useRef<string>(undefined);

  /** `true` if the element exists. */
  const bringIntoView = () => {
    const found = target.current === undefined ? null : document.getElementById(target.current);
    if (found === null) return false;
    // An event can be shown in the row of another.
    const element = found.closest('tr') ?? found;
    target.current = undefined;
    // Users who have moved on to something else are not interrupted.
    const { activeElement } = document;
    if (activeElement !== focused.current && activeElement !== document.body) return true;
    element.scrollIntoView({ block: 'center' });
    element.focus({ preventScroll: true });
    return true;
  };

  useEffect(() => {
    if (wanted === undefined) return;
    const { eventId } = wanted;
    focused.current = document.activeElement;
    target.current = rowId(eventId);
    if (bringIntoView()) return setState(idle);
    const controller = new AbortController();
    const { signal } = controller;
    // Pressing again continues where the last search ended.
    const from = reached.current?.eventId === eventId ? reached.current.place : undefined;
    setState({ ...idle, isLooking: true });
    findEvent(client, sessionId, eventId, from, signal).then(
      ({ place, isFound }) => {
        if (signal.aborted) return;
        if (isFound) {
          setState(idle);
          return showFrom(place);
        }
        reached.current = { eventId, place };
        target.current = 'events';
        setState({ ...idle, missed: place });
      },
      (error) => signal.aborted || setState({ ...idle, error }),
    );
    return () => controller.abort();
  }, [wanted]);

  useLayoutEffect(() => void bringIntoView());
  return state;
}
