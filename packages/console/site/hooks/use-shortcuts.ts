import { useLayoutEffect, useRef } from 'preact/hooks';
import { tinykeys } from 'tinykeys';
import { href } from '../route.ts';
import { pathOf, type SectionGroup } from '../sections.ts';

/** `true` while a dialog is open, whose keys are its own. */
function hasDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/**
 * Handles the shortcuts of every page while the user is signed in. All but the search are ignored in fields, where they
 * are text.
 */
export function useShortcuts(
  groups: readonly SectionGroup[],
  isShown: boolean,
  handlers: { readonly onSearch: () => void; readonly onHelp: () => void },
): void {
  const latest = useRef({ groups, handlers });
  latest.current = { groups, handlers };
  // Before the first frame, so that no key is lost of who types while the page appears.
  useLayoutEffect(() => {
    if (!isShown) return;
    const press = (act: () => void) => (event: KeyboardEvent) => {
      if (hasDialog()) return;
      event.preventDefault();
      act();
    };
    const search = () => latest.current.handlers.onSearch();
    const sections = latest.current.groups.flatMap(({ sections }) => sections);
    const jumps = sections.map((section) => [
      `g ${section.key}`,
      press(() => {
        location.hash = href(pathOf(section));
      }),
    ]);
    const stops = [
      tinykeys(window, { '$mod+k': press(search) }, { ignore: () => false }),
      tinykeys(window, {
        ...Object.fromEntries(jumps),
        '[Shift]+?': press(() => latest.current.handlers.onHelp()),
        '[Shift]+/': press(() => {
          const filter = document.querySelector<HTMLElement>('main .filters :is(input, select)');
          if (filter === null) search();
          else filter.focus();
        }),
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [isShown]);
}
