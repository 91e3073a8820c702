import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UserConfig } from 'vitepress';
import { sections } from '../site/navigation.ts';
import { pagesFolder, root } from './repository.ts';

/** Plugin of the Vite that VitePress bundles with, which need not be that of the tests. */
export type VitePlugin = Extract<
  NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number],
  { readonly name: string }
>;

/** Path below which VitePress renders the site. No file of the finished website contains it. */
export const placeholderBase = '/__actlog_docs__/';

const virtualModule = 'virtual:site-base';

/**
 * Module whose default export is the path of the site, taken from the address of the loaded script.
 * All scripts are below `assets/`.
 */
const baseModule = "export default new URL(import.meta.url.replace(/\\/assets\\/[^?#]*$/, '/')).pathname;";

/**
 * Vite plugin that lets the scripts of one build work below any path, such as `/docs/` of a server or the path of a
 * proxy: VitePress otherwise writes the path into them.
 */
export function portableBase(): VitePlugin {
  const importBase = `import siteBase from '${virtualModule}';\n`;
  return {
    name: 'portable-base',
    enforce: 'post',
    resolveId: (id) => (id === virtualModule ? `\0${virtualModule}` : undefined),
    load: (id) => (id === `\0${virtualModule}` ? baseModule : undefined),
    transform(code, id, options) {
      if (options?.ssr) return undefined;
      const quoted = JSON.stringify(placeholderBase);
      if (id === '/@siteData' || id.includes('@localSearchIndex')) {
        // The data is one JSON text in a string literal.
        return `${importBase}${code.replace(/export default (JSON\.parse\()?("(?:[^"\\]|\\.)*")(\))?;?/s, (_all, open = '', literal, close = '') => `export default ${open}${literal}.replaceAll(${quoted}, siteBase)${close};`)}`;
      }
      if (!code.includes(quoted) && !code.includes('import.meta.env.BASE_URL')) return undefined;
      return (
        importBase + code.replaceAll('import.meta.env.BASE_URL', 'siteBase').replaceAll(quoted, 'siteBase')
      );
    },
  };
}

/** Files of the repository that must have a page. */
const patterns = ['docs/*.md', 'packages/*/README.md', 'packages/adapters/*/README.md'];

/** Returns the guides and the READMEs of packages, by their paths from the root of the repository. */
function filesWithPages(): string[] {
  return globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** Returns the files of the repository with a page, by the path of that page. */
export function pageSources(): Map<string, string> {
  return new Map([
    [homePage, 'README.md'],
    ...filesWithPages().flatMap((file) => {
      const page = pagePathOf(file);
      return page === undefined ? [] : [[page, file] as const];
    }),
  ]);
}

/**
 * Copies the guides and READMEs to the folder that VitePress reads, and writes the home page.
 *
 * @throws Error if the navigation lacks one of them, or names a file that does not exist.
 */
export async function stagePages(): Promise<void> {
  const sources = pageSources();
  checkNavigation(new Set(filesWithPages()));
  await rm(pagesFolder, { recursive: true, force: true });
  for (const [page, source] of sources) {
    const target = join(pagesFolder, page);
    await mkdir(dirname(target), { recursive: true });
    if (page === homePage) {
      await writeFile(target, homePageText(await readFile(join(root, source), 'utf8')));
    } else {
      await cp(join(root, source), target);
    }
  }
  const publicFolder = join(pagesFolder, 'public');
  await mkdir(publicFolder);
  await cp(join(root, 'packages/console/site/icon.svg'), join(publicFolder, 'icon.svg'));
}

function checkNavigation(files: ReadonlySet<string>): void {
  const named = new Set(
    sections.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages.map(({ source }) => source))),
  );
  const missing = [...files].filter((file) => !named.has(file));
  const unknown = [...named].filter((file) => !file.startsWith('reference/') && !files.has(file));
  if (missing.length > 0) {
    throw new Error(`packages/docs/site/navigation.ts has no entry for ${missing.join(', ')}.`);
  }
  if (unknown.length > 0) {
    throw new Error(`packages/docs/site/navigation.ts names ${unknown.join(', ')}, which do not exist.`);
  }
}

/** Sections of the README that the home page shows, with their headings on it. */
const shown: readonly (readonly [heading: string, title: string])[] = [
  ['Record an agent with one line', 'Record an agent with one line'],
  ['Read sessions in a script', 'Read sessions in a script'],
  ['Run the service', 'Run the service'],
];

const introduction = `---
title: actlog
titleTemplate: See and control what your AI agents do with their tools
pageClass: home
sidebar: false
aside: false
editLink: false
prev: false
next: false
---

# See and control what your AI agents do with their tools

actlog records every tool call, checks it against policy before it runs, and holds it for approval if a policy says so.
Arguments never leave the process: only their hash does.

[Quick start](docs/quick-start.md) [Choose an adapter](docs/adapters.md) [Guard and approvals](docs/guard-and-approvals.md)
`;

/**
 * Returns the Markdown of the home page: an introduction and the sections and snippets of the README.
 *
 * @throws Error if the README lacks one of the sections.
 */
function homePageText(readme: string): string {
  const parts = shown.map(([heading, title]) => `## ${title}\n${sectionOf(readme, heading)}`);
  return [introduction, ...parts].join('\n');
}

/** Returns the text below a second-level heading, up to the next one. */
function sectionOf(readme: string, heading: string): string {
  const start = readme.indexOf(`\n## ${heading}\n`);
  if (start === -1)
    throw new Error(`README.md has no section "${heading}", which the home page of the docs shows.`);
  const text = readme.slice(start + `\n## ${heading}\n`.length);
  const end = text.search(/^## /m);
  return end === -1 ? text : text.slice(0, end);
}

/** Home page, which shows the README of the repository. */
export const homePage = 'index.md';

/** Folders of the guides on the site, from their sections. */
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
