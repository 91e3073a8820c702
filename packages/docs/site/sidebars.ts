import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { pagePathOf } from '../build/page-path.ts';
import { root } from '../build/repository.ts';
import { type NavigationGroup, type PageEntry, type Section, sections } from './navigation.ts';

/** Returns the address of a page, from the root of the site. */
function addressOf({ source }: PageEntry): string {
  return `/${pagePathOf(source)}`.replace(/(?:index)?\.md$/, '');
}

/** Returns the first heading of a Markdown file, without its code marks. */
function headingOf(source: string): string {
  const [, heading = source] = /^# (.*)$/m.exec(readFileSync(join(root, source), 'utf8')) ?? [];
  return heading.replaceAll('`', '');
}

function sidebarOf({ groups }: Section): DefaultTheme.SidebarItem[] {
  return groups.map(({ text, pages }: NavigationGroup) => ({
    text,
    items: pages.map((page) => ({ text: page.text ?? headingOf(page.source), link: addressOf(page) })),
  }));
}

/** Folders of pages besides those of the sections, and the sections that contain them. */
const furtherFolders: Readonly<Record<string, string>> = { adapters: 'start', packages: 'reference' };

/** Returns the sidebar of each folder: that of its section. */
export function sidebars(): DefaultTheme.SidebarMulti {
  return Object.fromEntries(
    sections.flatMap((section) =>
      foldersOf(section).map((folder) => [`/${folder}/`, sidebarOf(section)] as const),
    ),
  );
}

/** Returns the top navigation: each section, with its first page. */
export function navigationLinks(): DefaultTheme.NavItem[] {
  return sections.map((section) => ({
    text: section.text,
    link: addressOf(section.groups[0]?.pages[0] as PageEntry),
    activeMatch: `^/(?:${foldersOf(section).join('|')})/`,
  }));
}

function foldersOf({ folder }: Section): string[] {
  const further = Object.keys(furtherFolders).filter((name) => furtherFolders[name] === folder);
  return [folder, ...further];
}
