import BookOpen from 'lucide/dist/esm/icons/book-open.mjs';
import Braces from 'lucide/dist/esm/icons/braces.mjs';
import LogOut from 'lucide/dist/esm/icons/log-out.mjs';
import SunMoon from 'lucide/dist/esm/icons/sun-moon.mjs';
import { chooseColorScheme, colorSchemes } from '../color-scheme.ts';
import { href } from '../route.ts';
import { pathOf, type SectionGroup } from '../sections.ts';
import { type Command, goTo } from './command.ts';

/** Returns the commands that lead to the pages. */
export function pageCommands(groups: readonly SectionGroup[]): readonly Command[] {
  const pages = groups.flatMap(({ sections }) => sections);
  return pages.map((section) => ({
    id: `page-${section.place}`,
    title: section.title,
    icon: section.icon,
    keys: ['g', section.key],
    run: goTo(href(pathOf(section))),
  }));
}

/** Returns the other commands of the sidebar. */
export function otherCommands(signOut: (() => void) | undefined): readonly Command[] {
  return [
    ...colorSchemes.map((scheme) => ({
      id: `color-scheme-${scheme}`,
      title: `Color scheme: ${scheme}`,
      icon: SunMoon,
      run: () => chooseColorScheme(scheme),
    })),
    { id: 'docs', title: 'Docs', icon: BookOpen, run: goTo('../docs/') },
    { id: 'api', title: 'API', icon: Braces, run: goTo('../openapi.json') },
    ...(signOut ? [{ id: 'sign-out', title: 'Sign out', icon: LogOut, run: signOut }] : []),
  ];
}
