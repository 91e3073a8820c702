import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { FollowedLink, Leaving, Visit } from './visit.ts';

/** How long what is still to be drawn is waited for, in milliseconds: whoever reads on does not want to be moved. */
const patienceMs = 10_000;

/** By what a person shows that they have begun something else. */
const acts = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const;

function linkIn(main: HTMLElement, { hash, within }: FollowedLink): HTMLAnchorElement | undefined {
  const around = document.getElementById(within);
  const links = [...(around?.querySelectorAll('a') ?? [])];
  return links.find((link) => main.contains(link) && link.hash === hash);
}

/** Scrolls to where the person was, as far as the page is drawn; tells whether they are back there. */
function bringBack(main: HTMLElement, { scrollY, link }: Leaving): boolean {
  const found = link && linkIn(main, link);
  if (link !== undefined && found !== undefined) {
    found.focus({ preventScroll: true });
    // What has come above it meanwhile does not move it.
    scrollBy(0, found.getBoundingClientRect().top - link.top);
    return true;
  }
  scrollTo(0, scrollY);
  return link === undefined && Math.abs(window.scrollY - scrollY) < 1;
}

/** Brings who comes back to a visit to where they were, with the focus on the link that they followed. */
export function useReturn(main: RefObject<HTMLElement | null>, visit: Visit): void {
  useLayoutEffect(() => {
    const { current } = main;
    const { left } = visit;
    if (current === null || left === undefined) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    // Who leaves again before that still wants to come back to where they were.
    const end = () => {
      visit.left = undefined;
      waiting.abort();
    };
    const tryOn = () => bringBack(current, left) && end();
    // The answers of the service are still to be drawn.
    const observer = new MutationObserver(tryOn);
    observer.observe(current, { childList: true, subtree: true });
    signal.addEventListener('abort', () => observer.disconnect());
    AbortSignal.timeout(patienceMs).addEventListener('abort', end, { signal });
    for (const act of acts) addEventListener(act, end, { signal, passive: true });
    tryOn();
    return () => waiting.abort();
  }, [visit]);
}
