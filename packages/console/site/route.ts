import type { IconNode } from 'lucide';
import Activity from 'lucide/dist/esm/icons/activity.mjs';
import Archive from 'lucide/dist/esm/icons/archive.mjs';
import BellRing from 'lucide/dist/esm/icons/bell-ring.mjs';
import Bot from 'lucide/dist/esm/icons/bot.mjs';
import Gauge from 'lucide/dist/esm/icons/gauge.mjs';
import Gavel from 'lucide/dist/esm/icons/gavel.mjs';
import Hand from 'lucide/dist/esm/icons/hand.mjs';
import KeyRound from 'lucide/dist/esm/icons/key-round.mjs';
import ListTree from 'lucide/dist/esm/icons/list-tree.mjs';
import Scale from 'lucide/dist/esm/icons/scale.mjs';
import ScrollText from 'lucide/dist/esm/icons/scroll-text.mjs';
import ShieldCheck from 'lucide/dist/esm/icons/shield-check.mjs';
import Webhook from 'lucide/dist/esm/icons/webhook.mjs';
import Wrench from 'lucide/dist/esm/icons/wrench.mjs';
import { hasKnownOwner, type Identity, managesKeys } from './identity.ts';

/** Current location: the part of the address after `#`, so that any server and path prefix works. */
export interface Route {
  /** Decoded parts of the path: `#/sessions/a%2Fb` gives `['sessions', 'a/b']`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Parses the part of an address after `#`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/**
 * Returns the address of a location, for `href`. Parts are encoded; query members without text are omitted.
 */
export function href(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

/** A section of the console: one entry of the navigation, the command palette and the shortcuts. */
interface Section {
  /** First part of its address, and of the pages below it. */
  readonly place: string;
  readonly title: string;
  readonly icon: IconNode;
  /** Key that leads there after `g`. */
  readonly key: string;
  /** `true` if the user may open it. Default: every user may. */
  readonly isOffered?: (identity: Identity) => boolean;
}

/** Sections under one heading of the navigation. */
export interface SectionGroup {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** All sections, in the order of the navigation. */
const sectionGroups: readonly SectionGroup[] = [
  {
    title: 'Watch',
    sections: [
      { place: 'overview', title: 'Overview', icon: Gauge, key: 'o' },
      { place: 'sessions', title: 'Sessions', icon: ListTree, key: 's' },
      { place: 'events', title: 'Events', icon: Activity, key: 'e', isOffered: hasKnownOwner },
      { place: 'approvals', title: 'Approvals', icon: Hand, key: 'a' },
      { place: 'decisions', title: 'Decisions', icon: Scale, key: 'd' },
      { place: 'judgments', title: 'Judgments', icon: Gavel, key: 'j', isOffered: hasKnownOwner },
    ],
  },
  {
    title: 'Set up',
    sections: [
      { place: 'policies', title: 'Policies', icon: ShieldCheck, key: 'p' },
      { place: 'agents', title: 'Agents', icon: Bot, key: 'n' },
      { place: 'tools', title: 'Tools', icon: Wrench, key: 't', isOffered: hasKnownOwner },
      { place: 'channels', title: 'Channels', icon: BellRing, key: 'c', isOffered: hasKnownOwner },
      { place: 'webhooks', title: 'Webhooks', icon: Webhook, key: 'w' },
      { place: 'keys', title: 'Keys', icon: KeyRound, key: 'k', isOffered: managesKeys },
      { place: 'audit', title: 'Audit', icon: ScrollText, key: 'u', isOffered: managesKeys },
      { place: 'records', title: 'Records', icon: Archive, key: 'r', isOffered: managesKeys },
    ],
  },
];

/** Returns the groups with the sections that a user may open. */
export function offeredSections(identity: Identity): readonly SectionGroup[] {
  return sectionGroups.map(({ title, sections }) => ({
    title,
    sections: sections.filter(({ isOffered }) => isOffered?.(identity) ?? true),
  }));
}

/** Returns the title of the section of a place; `Page not found` for an unknown one. */
export function sectionTitle(place: string): string {
  const sections = sectionGroups.flatMap((group) => group.sections);
  return sections.find((section) => section.place === place)?.title ?? 'Page not found';
}

/** Returns the path of a section, for `href`: the overview is the first page. */
export function pathOf({ place }: Section): readonly string[] {
  return place === 'overview' ? [] : [place];
}
