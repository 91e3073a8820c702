import { sections } from '../site/navigation.ts';

/** Home page, which shows the README of the repository. */
export const homePage = 'index.md';

/** Folders of the guides on the site: those of their sections. */
const guideFolders = new Map(
  sections.flatMap(({ folder, groups }) =>
    groups.flatMap(({ pages }) => pages.map(({ source }) => [source, folder] as const)),
  ),
);

/**
 * Returns the path of the page that shows a Markdown file of the repository, such as `adapters/langchain.md` for
 * `packages/adapters/langchain/README.md`. Undefined for a file without a page.
 */
export function pagePathOf(source: string): string | undefined {
  if (source === 'README.md') return homePage;
  if (source === 'docs/adapters.md') return 'adapters/index.md';
  if (source.startsWith('reference/')) return source;
  const [, folder] = /^packages\/(?:adapters\/)?([^/]+)\/README\.md$/.exec(source) ?? [];
  if (folder !== undefined) {
    return source.startsWith('packages/adapters/') ? `adapters/${folder}.md` : `packages/${folder}.md`;
  }
  const [, name] = /^docs\/([^/]+\.md)$/.exec(source) ?? [];
  const section = guideFolders.get(source);
  return name === undefined || section === undefined ? undefined : `${section}/${name}`;
}
