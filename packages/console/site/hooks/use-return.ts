import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { FollowedLink, Leaving, Visit } from './visit.ts';

/** Maximum time to wait for the rest of the page, in milliseconds, so that reading users are not moved. */
const patienceMs = 10_000;

/** Events that show that the user has started something else. */
const acts = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const;

function linkIn(main: HTMLElement, { hash, within }: FollowedLink): HTMLAnchorElement | undefined {
  const around = document.getElementById(within);
  const links = [...(around?.querySelectorAll('a') ?? [])];
  return links.find((link) => main.contains(link) && link.hash === hash);
}

/**
 * Scrolls to the user's previous position as far as the page is rendered; returns `true` once it is reached.
 */
function bringBack(main: HTMLElement, { scrollY, link }: Leaving): boolean {
  const found = link && linkIn(main, link);
  if (link !== undefined && found !== undefined) {
    found.focus({ preventScroll: true });
    // Content that was added above it does not move it.
    scrollBy(0, found.getBoundingClientRect().top - link.top);
    return true;
  }
  scrollTo(0, scrollY);
  return link === undefined && Math.abs(window.scrollY - scrollY) < 1;
}

/** Restores the scroll position and the focused link of a returning user. */
export function useReturn(main: RefObject<HTMLElement | null>, visit: Visit): void {
  useLayoutEffect(() => {
    const { current } = main;
    const { left } = visit;
    if (current === null || left === undefined) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    // Users who leave again before that keep their position.
    const end = () => {
      visit.left = undefined;
      waiting.abort();
    };
    const tryOn = () => bringBack(current, left) && end();
    // Responses of the service are still to be rendered.
    const observer = new MutationObserver(tryOn);
    observer.observe(current, { childList: true, subtree: true });
    signal.addEventListener('abort', () => observer.disconnect());
    AbortSignal.timeout(patienceMs).addEventListener('abort', end, { signal });
    for (const act of acts) addEventListener(act, end, { signal, passive: true });
    tryOn();
    return () => waiting.abort();
  }, [visit]);
}
