import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rowId } from '../events/row-id.ts';

/** Row to bring into view. */
export interface ShownEvent {
  /** Requests that a row is brought into view and focused. */
  show(eventId: string): void;
}

/**
 * Brings the row of an event into view once it is rendered, and focuses it.
 *
 * @param scrollTo - scrolls the list so that the row is rendered; returns `false` if the list has no such row yet
 */
export function useShownEvent(scrollTo: (eventId: string) => boolean): ShownEvent {
  const target = useRef<string>(undefined);
  const focused = useRef<Element | null>(null);
  const [, setRequests] = useState(0);
  useLayoutEffect(() => {
    if (target.current === undefined) return;
    const found = document.getElementById(rowId(target.current));
    if (found === null) {
      scrollTo(target.current);
      return;
    }
    const element = found.closest('tr') ?? found;
    target.current = undefined;
    // Users who have moved on to something else are not interrupted.
    const { activeElement } = document;
    if (activeElement !== focused.current && activeElement !== document.body) return;
    element.scrollIntoView({ block: 'center' });
    element.focus({ preventScroll: true });
  });
  return {
    show: (eventId) => {
      target.current = eventId;
      focused.current = document.activeElement;
      setRequests((count) => count + 1);
    },
  };
}
