import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/** Milliseconds that a person may need to see that something else stands where they are about to press. */
const noticedAfterMs = 600;

/**
 * Whether an element has stood where it stands for a moment. What comes or goes above it by itself moves it, and a
 * press that was meant for its neighbour would fall on it.
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
