import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FollowedLink, Visit } from './visit.ts';

/** What is kept in an entry of the tab's history. */
interface Entry {
  readonly visit: string;
  readonly from: string | undefined;
}

/** Takes the present entry of the history for the one of a visit; a new one is marked with where it was come from. */
function markedEntry(from: string | undefined): Entry {
  const known = history.state as Entry | null;
  if (typeof known?.visit === 'string') return known;
  // Where a page comes over plain HTTP, browsers make no UUID.
  const entry: Entry = { visit: crypto.getRandomValues(new Uint32Array(4)).join('-'), from };
  history.replaceState(entry, '');
  return entry;
}

/** The link that led to the present place: the one that was pressed, or where the focus is as the person goes forward. */
function followed(pressed: Element | null): FollowedLink | undefined {
  const { hash } = location;
  const link = [pressed, document.activeElement].find(
    (element) => element?.isConnected && element instanceof HTMLAnchorElement && element.hash === hash,
  );
  const around = link?.closest('[id]');
  return link && around ? { hash, within: around.id, top: link.getBoundingClientRect().top } : undefined;
}

/**
 * The present visit; the component is drawn anew when it changes. Those before stay in the memory of the page, for who
 * goes back to them.
 *
 * @param main - what is left and come back to
 */
export function useVisits(main: RefObject<HTMLElement | null>): Visit {
  const visits = useRef(new Map<string, Visit>());
  const enter = (from: string | undefined): Visit => {
    const entry = markedEntry(from);
    const { hash } = location;
    const before = visits.current.get(entry.visit);
    if (before !== undefined) return before;
    const visit: Visit = { hash, from: entry.from, lists: new Map(), left: undefined };
    visits.current.set(entry.visit, visit);
    return visit;
  };
  const [visit, setVisit] = useState(() => enter(undefined));
  useEffect(() => {
    let present = visit;
    let pressed: Element | null = null;
    const press = ({ target }: Event) => {
      pressed = (target as Element).closest('a');
    };
    // Nothing has been drawn anew yet: what is left is still in view.
    const follow = () => {
      present.left = { scrollY, link: followed(pressed) };
      pressed = null;
      present = enter(present.hash);
      setVisit(present);
    };
    // The browser would scroll before there is anything to scroll to.
    history.scrollRestoration = 'manual';
    const { current } = main;
    current?.addEventListener('click', press);
    addEventListener('hashchange', follow);
    return () => {
      current?.removeEventListener('click', press);
      removeEventListener('hashchange', follow);
    };
  }, []);
  return visit;
}
