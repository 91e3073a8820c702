import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { placeholderBase, portableBase } from '../../build/portable-base.ts';
import { forge, pagesFolder, websiteFolder } from '../../build/repository.ts';
import { siteLinks } from '../../build/site-links.ts';
import { pageSources } from '../../build/stage-pages.ts';
import { thirdPartyNotices } from '../../build/third-party-notices.ts';
import { indexedHtml } from '../indexed-html.ts';
import { repositoryIcon } from '../repository-icon.ts';
import { navigationLinks, sidebars } from '../sidebars.ts';

const sources = pageSources();

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
  // Page data in an own file: the remaining inline scripts are the same on every page.
  metaChunk: true,
  head: [['link', { rel: 'icon', href: `${placeholderBase}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    // Anchors as on the forge, so that one link works on both.
    anchor: { slugify: slug },
    config: (md) => siteLinks(md, sources),
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
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
