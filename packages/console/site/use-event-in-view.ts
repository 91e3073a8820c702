import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from './connection.ts';
import { type EventPlace, findEvent } from './find-event.ts';

/** An event that the person wants to see; another wish for the same event is another object. */
export interface WantedEvent {
  readonly eventId: string;
}

/** How a search for an event has gone. */
export interface EventSearch {
  /** What has been looked through without finding it; undefined while it is looked for, and where it was found. */
  readonly missed: EventPlace | undefined;
  readonly isLooking: boolean;
  readonly error: unknown;
}

const idle: EventSearch = { missed: undefined, isLooking: false, error: undefined };

/** The id that the row of an event has in the page. */
export function rowId(eventId: string): string {
  return `event-${eventId}`;
}

/**
 * Brings an event into view. One that is not shown is looked for without drawing what stands before it, and the list
 * is then shown from there; or the heading of the events comes into view, where it is not found.
 *
 * @param showFrom - shows the list from a place on
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
  /** What is still to be brought into view. */
  const target = useRef<string>(undefined);

  /** Whether it is there. */
  const bringIntoView = () => {
    const element = target.current === undefined ? null : document.getElementById(target.current);
    if (element === null) return false;
    target.current = undefined;
    // Who has gone on to something else meanwhile is not drawn away from it.
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
    // Who presses again goes on where the last search ended.
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
