import type { SectionGroup } from '../route.ts';

/** Name of the modifier key of commands on this machine. */
export const commandKey = /Mac|iP(?:hone|ad|od)/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** A keyboard shortcut: keys that are pressed together or one after the other. */
export interface Shortcut {
  readonly keys: readonly string[];
  readonly title: string;
}

/** Returns the shortcuts of every page, for the list that `?` opens. */
export function shortcutsOf(groups: readonly SectionGroup[]): readonly Shortcut[] {
  return [
    { keys: [commandKey, 'K'], title: 'Search pages, sessions and agents' },
    { keys: ['/'], title: 'Go to the first filter of the page, or search' },
    ...groups.flatMap(({ sections }) =>
      sections.map(({ key, title }) => ({ keys: ['g', key], title: `Go to ${title}` })),
    ),
    { keys: ['?'], title: 'Show these shortcuts' },
  ];
}
