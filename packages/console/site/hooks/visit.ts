import { createContext, type RefObject } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Maximum number of visits; browsers keep no more history entries per tab. */
const keptVisits = 50;

/** State in an entry of the tab's history. */
interface Entry {
  readonly visit: string;
  readonly from: string | undefined;
}

function presentEntry(): Entry | undefined {
  const known = history.state as Entry | null;
  return typeof known?.visit === 'string' ? known : undefined;
}

function newEntry(from: string | undefined): Entry {
  // Browsers provide no randomUUID over plain HTTP.
  return { visit: crypto.getRandomValues(new Uint32Array(4)).join('-'), from };
}

/** Assigns the current history entry to a visit; a new entry stores the previous location. */
function markedEntry(from: string | undefined): Entry {
  const known = presentEntry();
  if (known !== undefined) return known;
  const entry = newEntry(from);
  history.replaceState(entry, '');
  return entry;
}

/** Replaces the current location in the history, keeping the previous location. */
export function replacePlace(href: string): void {
  history.replaceState(newEntry(presentEntry()?.from), '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/**
 * Returns the link that led to the current location: the pressed one, or the focused one on forward
 * navigation.
 */
function followed(main: HTMLElement | null, pressed: Element | null): FollowedLink | undefined {
  const { hash } = location;
  const link = [pressed, document.activeElement].find(
    (element) => element instanceof HTMLAnchorElement && main?.contains(element) && element.hash === hash,
  );
  const around = link?.closest('[id]');
  return link && around ? { hash, within: around.id, top: link.getBoundingClientRect().top } : undefined;
}

/**
 * Returns the current visit and rerenders when it changes. Earlier visits are kept in memory for Back navigation.
 *
 * @param main - element that is left and returned to
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
  // Runs before the user can navigate, so that no navigation is missed.
  useLayoutEffect(() => {
    let present = visit;
    let pressed: Element | null = null;
    const press = ({ target }: Event) => {
      pressed = (target as Element).closest('a');
    };
    // Nothing is rerendered yet: the previous page is still in view.
    const follow = () => {
      present.left ??= { scrollY, link: followed(main.current, pressed) };
      pressed = null;
      present = enter(present.hash);
      setVisit(present);
    };
    // The browser would scroll before the content exists.
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

/** Number of shown pages of a list and their items. */
export interface ShownPages {
  readonly pages: number;
  /** Names of the items; empty if the list has none. */
  readonly names: ReadonlySet<string>;
}

/** Position of a user on a page when they left it. */
export interface Leaving {
  /** Scroll position in pixels. */
  readonly scrollY: number;
  /** Followed link; undefined if the user left in another way. */
  readonly link: FollowedLink | undefined;
}

export interface FollowedLink {
  /** Target of the link, as in the address. */
  readonly hash: string;
  /** Id of the nearest ancestor that has one. */
  readonly within: string;
  /** Distance from the top of the window in pixels. */
  readonly top: number;
}

/** One visit of a location: an entry of the tab's history. */
export interface Visit {
  readonly hash: string;
  /** Previous location, from which the user came; undefined if there is none. */
  readonly from: string | undefined;
  /** Shown pages by list key. */
  readonly lists: Map<string, ShownPages>;
  /** Position on leaving; undefined until then, and after the user has returned. */
  left: Leaving | undefined;
}

export const VisitContext = createContext<Visit | undefined>(undefined);

/** Returns the current visit. */
export function useVisit(): Visit {
  const visit = useContext(VisitContext);
  if (visit === undefined) throw new Error('Nothing is visited.');
  return visit;
}
