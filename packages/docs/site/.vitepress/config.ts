import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slug } from 'github-slugger';
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress';
import { forge, pagesFolder, root, websiteFolder } from '../../build/repository.ts';
import { resolveHref } from '../../build/site-links.ts';
import {
  homePage,
  pagePathOf,
  pageSources,
  placeholderBase,
  portableBase,
  type VitePlugin,
} from '../../build/stage-pages.ts';
import { typescriptFolder } from '../../build/typescript-pages.ts';
import { type NavigationGroup, type PageEntry, type Section, sections } from '../navigation.ts';
import { withSearchTerms } from '../search-terms.ts';

/** Environment of one page in VitePress. */
interface PageEnvironment {
  readonly relativePath: string;
}

/**
 * Plugin of markdown-it that makes links between files of the repository lead to pages of the site, keeps braces in prose
 * from being read as Vue expressions, and turns empty header cells into cells.
 *
 * @param sources Files of the repository by the page that shows them.
 */
function siteLinks(md: MarkdownRenderer, sources: ReadonlyMap<string, string>): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const { relativePath: page } = env as PageEnvironment;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href !== null) token.attrSet('href', resolveHref(href, { source: sources.get(page), page }));
    }
  });
  md.core.ruler.push('empty-header-cells', ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') return;
      // A header without text says nothing to a screen reader.
      for (const cell of [token, tokens[index + 2]]) if (cell !== undefined) cell.tag = 'td';
    });
  });
  const renderText = md.renderer.rules.text;
  md.renderer.rules.text = (tokens, index, ...rest) => {
    const text = renderText?.(tokens, index, ...rest) ?? md.utils.escapeHtml(tokens[index]?.content ?? '');
    return text.replaceAll('{{', '&#123;&#123;');
  };
}

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

/** Folders of pages outside of the folders of sections, and the sections that contain them. */
const furtherFolders: Readonly<Record<string, string>> = { adapters: 'start', packages: 'reference' };

/** Returns the sidebar of each folder, which shows its section. */
function sidebars(): DefaultTheme.SidebarMulti {
  return Object.fromEntries(
    sections.flatMap((section) =>
      foldersOf(section).map((folder) => [`/${folder}/`, sidebarOf(section)] as const),
    ),
  );
}

/** Returns the top navigation: each section, with its first page. */
function navigationLinks(): DefaultTheme.NavItem[] {
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

/** Name of the file with the notices, from the root of the website. */
const noticesFile = 'licenses.txt';

/** Names of license files, in either spelling. */
const licenseFile = /^licen[cs]e(?:\.md|\.txt)?$/i;

/** Vite plugin that writes the license notices of all packages whose code the scripts of the site contain. */
function thirdPartyNotices(): VitePlugin {
  let isServerBuild = false;
  return {
    name: 'third-party-notices',
    configResolved({ build }) {
      isServerBuild = Boolean(build.ssr);
    },
    generateBundle(_options, bundle) {
      if (isServerBuild) return;
      const modules = Object.values(bundle).flatMap((chunk) =>
        chunk.type === 'chunk' ? chunk.moduleIds : [],
      );
      const folders = modules.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(id)?.[0]);
      const notices = [...new Set(folders.filter((path) => path !== undefined))].map(noticeOf);
      const source = `The scripts of this website contain:\n\n${[...new Set(notices)].sort().join(`\n${'-'.repeat(72)}\n\n`)}`;
      this.emitFile({ type: 'asset', fileName: noticesFile, source });
    },
  };
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((name) => licenseFile.test(name));
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}

/** Icon of the link to the repository: a branch that leaves a line of commits. */
const repositoryIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"><circle cx="6" cy="5" r="2.5"/><circle cx="6" cy="19" r="2.5"/><circle cx="18" cy="8" r="2.5"/><path d="M6 7.5v9M18 10.5c0 4-12 2-12 6"/></svg>';

const sources = pageSources();

/**
 * Returns the HTML of a page that the search reads. Of the generated references, it reads less, so that they do not hide
 * the guides: of TypeScript the names of exports as text, of HTTP whole endpoints instead of their parts.
 */
const indexedHtml: NonNullable<DefaultTheme.LocalSearchOptions['_render']> = (text, env, md) => {
  const html = md.render(text, env);
  const { relativePath: page } = env as PageEnvironment;
  if (page.startsWith(`${typescriptFolder}/`)) {
    const [title = '', ...names] = html.match(/<h([1-3])[ >].*?<\/h\1>/gs) ?? [];
    return `${title}<p>${names.map((name) => name.replaceAll(/<[^>]*>/g, ' ')).join(' ')}</p>`;
  }
  if (page.startsWith('reference/http/')) return html.replaceAll(/<h3[ >].*?<\/h3>/gs, '');
  return withSearchTerms(html, page);
};

/** `true` for a page that the website has as Markdown too. */
function hasMarkdown(page: string): boolean {
  return page !== homePage && page !== '404.md' && !page.startsWith(`${typescriptFolder}/`);
}

export default defineConfig({
  title: 'actlog',
  description: 'Records, checks and holds what AI agents do with their tools.',
  lang: 'en-US',
  base: placeholderBase,
  srcDir: pagesFolder,
  outDir: websiteFolder,
  cleanUrls: true,
  // The check of the whole website finds dead anchors too.
  ignoreDeadLinks: true,
  // Page data in a separate file: the remaining inline scripts are the same on every page.
  metaChunk: true,
  head: [['link', { rel: 'icon', href: `${placeholderBase}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    // Anchors as on the forge, so that one link works on both.
    anchor: { slugify: slug },
    config: (md) => siteLinks(md, sources),
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  transformHead: ({ pageData: { relativePath } }) =>
    hasMarkdown(relativePath)
      ? [['link', { rel: 'alternate', type: 'text/markdown', href: `${placeholderBase}${relativePath}` }]]
      : [],
  // The name of the source, for the link to edit it; generated pages have none.
  transformPageData: ({ relativePath, frontmatter }) => {
    const source = sources.get(relativePath);
    return source === undefined ? { frontmatter: { ...frontmatter, editLink: false } } : { filePath: source };
  },
  vite: {
    plugins: [portableBase(), thirdPartyNotices()],
    experimental: { renderBuiltUrl: () => ({ relative: true }) },
    build: { chunkSizeWarningLimit: 10_000 },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: navigationLinks(),
    sidebar: sidebars(),
    outline: { level: [2, 3] },
    // Drawn here: VitePress would load an icon by name from another server.
    socialLinks: [{ icon: { svg: repositoryIcon }, link: forge, ariaLabel: 'Repository on GitHub' }],
    externalLinkIcon: true,
    editLink: { pattern: `${forge}/edit/main/:path`, text: 'Edit this page' },
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        _render: indexedHtml,
        miniSearch: {
          searchOptions: { fuzzy: 0.15, prefix: true, boost: { title: 6, titles: 2, text: 1 } },
        },
      },
    },
  },
});
