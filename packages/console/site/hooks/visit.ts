import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

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
