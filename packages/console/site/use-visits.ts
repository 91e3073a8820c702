import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FollowedLink, Visit } from './visit.ts';

/** How many visits are kept; browsers keep no more entries in the history of a tab. */
const keptVisits = 50;

/** What is kept in an entry of the tab's history. */
interface Entry {
  readonly visit: string;
  readonly from: string | undefined;
}

function presentEntry(): Entry | undefined {
  const known = history.state as Entry | null;
  return typeof known?.visit === 'string' ? known : undefined;
}

function newEntry(from: string | undefined): Entry {
  // Where a page comes over plain HTTP, browsers make no UUID.
  return { visit: crypto.getRandomValues(new Uint32Array(4)).join('-'), from };
}

/** Takes the present entry of the history for the one of a visit; a new one is marked with where it was come from. */
function markedEntry(from: string | undefined): Entry {
  const known = presentEntry();
  if (known !== undefined) return known;
  const entry = newEntry(from);
  history.replaceState(entry, '');
  return entry;
}

/** Goes to a place of the console that stands in the history where the present one stood, behind the same place. */
export function replacePlace(href: string): void {
  history.replaceState(newEntry(presentEntry()?.from), '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The link that led to the present place: the one that was pressed, or where the focus is as the person goes forward. */
function followed(main: HTMLElement | null, pressed: Element | null): FollowedLink | undefined {
  const { hash } = location;
  const link = [pressed, document.activeElement].find(
    (element) => element instanceof HTMLAnchorElement && main?.contains(element) && element.hash === hash,
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
    const [first] = visits.current.keys();
    if (first !== undefined && visits.current.size > keptVisits) visits.current.delete(first);
    return visit;
  };
  const [visit, setVisit] = useState(() => enter(undefined));
  // Before anybody can see the page, and go on: what is gone to in between would never be shown.
  useLayoutEffect(() => {
    let present = visit;
    let pressed: Element | null = null;
    const press = ({ target }: Event) => {
      pressed = (target as Element).closest('a');
    };
    // Nothing has been drawn anew yet: what is left is still in view.
    const follow = () => {
      present.left ??= { scrollY, link: followed(main.current, pressed) };
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
