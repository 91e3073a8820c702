import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** How many pages a list has shown, and what was on them. */
export interface ShownPages {
  readonly pages: number;
  /** The names of the items; empty where the list has none. */
  readonly names: ReadonlySet<string>;
}

/** Where a person was on a page when they left it. */
export interface Leaving {
  /** Pixels above what was in view. */
  readonly scrollY: number;
  /** The link that they followed, undefined where they left by another way. */
  readonly link: FollowedLink | undefined;
}

export interface FollowedLink {
  /** Where it leads, as it stands in the address. */
  readonly hash: string;
  /** The id of the nearest element around it that has one. */
  readonly within: string;
  /** Pixels from the upper edge of the window. */
  readonly top: number;
}

/** One stay at a place: an entry of the tab's history, to which Back and Forward lead again. */
export interface Visit {
  readonly hash: string;
  /** The place in the entry before, from which the person came here; undefined where nothing is before. */
  readonly from: string | undefined;
  /** By the keys of the lists. */
  readonly lists: Map<string, ShownPages>;
  /** Undefined until it is left, and again once the person is back there. */
  left: Leaving | undefined;
}

export const VisitContext = createContext<Visit | undefined>(undefined);

/** The present visit. */
export function useVisit(): Visit {
  const visit = useContext(VisitContext);
  if (visit === undefined) throw new Error('Nothing is visited.');
  return visit;
}
