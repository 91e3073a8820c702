import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/** Time that a user needs to notice a moved element, in milliseconds. */
const noticedAfterMs = 600;

/**
 * `true` if an element has not moved for a moment. Content that appears or disappears above it moves it, and
 * a press that
 * was meant for its neighbor would hit it.
 */
export function useSettled(element: RefObject<HTMLElement | null>): boolean {
  const [place, setPlace] = useState<number>();
  const [settledAt, setSettledAt] = useState<number>();
  useLayoutEffect(() => setPlace(element.current?.offsetTop));
  useEffect(() => {
    const timer = setTimeout(() => setSettledAt(place), noticedAfterMs);
    return () => clearTimeout(timer);
  }, [place]);
  return place !== undefined && place === settledAt;
}
