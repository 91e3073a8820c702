import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { build } from 'vitepress';
import { sections } from '../site/navigation.ts';
import { pagesFolder, publishedAt, websiteFolder } from './repository.ts';
import { resolveHref } from './site-links.ts';
import { pagePathOf, pageSources, placeholderBase } from './stage-pages.ts';
import { typescriptFolder } from './typescript-pages.ts';

/** Page that the forge sends for any unknown path; relative URLs would depend on that path. */
const notFoundPage = '404.html';

/** Code in a script of the website for its path, from the address of the script. */
const baseOfChunk = 'new URL("../../",import.meta.url).pathname';

/**
 * Replaces the placeholder in all files of the website, so that it works below any path.
 *
 * @throws Error if a file still contains it.
 */
async function makePortable(): Promise<void> {
  const paths = globSync('**/*.{html,js,css}', { cwd: websiteFolder }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  for (const path of paths) {
    const file = join(websiteFolder, path);
    const text = await readFile(file, 'utf8');
    if (!text.includes(placeholderBase)) continue;
    const portable = portableText(path, text);
    if (portable.includes(placeholderBase) && !replacesOnLoad(portable)) {
      throw new Error(`${path} contains ${placeholderBase}, so it only works below that path.`);
    }
    if (portable !== text) await writeFile(file, portable);
  }
}

function portableText(path: string, text: string): string {
  if (path === notFoundPage) return withBase(text, new URL(publishedAt).pathname);
  if (path.endsWith('.html')) return withRelativeUrls(text, path);
  // VitePress writes this script after the build of the others: data as JSON in a string literal.
  if (path.startsWith('assets/chunks/metadata.')) {
    return text.replaceAll(`\\"${placeholderBase}\\"`, `\\""+${baseOfChunk}+"\\"`);
  }
  return text;
}

/** `true` for the search index, which replaces the placeholder when it is loaded. */
function replacesOnLoad(text: string): boolean {
  return text.includes(`.replaceAll("${placeholderBase}",`);
}

/**
 * Returns the HTML of a page with relative URLs in place of those below the placeholder.
 *
 * @param file Path of the page from the root of the site, such as `adapters/langchain.html`.
 */
export function withRelativeUrls(html: string, file: string): string {
  const folder = posix.dirname(file);
  const up = folder === '.' ? './' : '../'.repeat(folder.split('/').length);
  return withBase(html, up);
}

/** Returns the HTML of a page with `base` in place of the placeholder. */
function withBase(html: string, base: string): string {
  return html.replaceAll(`"${placeholderBase}`, `"${base}`);
}

/** Folder of the configuration. */
const siteFolder = join(import.meta.dirname, '..', 'site');

/**
 * Builds the website with relative URLs, and checks its links.
 *
 * @throws Error if a link leads nowhere, or if a file would only work below one path.
 */
export async function buildWebsite(): Promise<void> {
  await rm(websiteFolder, { recursive: true, force: true });
  await build(siteFolder);
  await writeMarkdownPages();
  await finishWebsite();
}

/** Makes the URLs of the built website relative, and checks its links. */
async function finishWebsite(): Promise<void> {
  await makePortable();
  const paths = globSync('**/*.*', { cwd: websiteFolder }).map((path) => path.replaceAll('\\', '/'));
  const pages = await Promise.all(
    paths
      .filter((path) => path.endsWith('.html') && path !== notFoundPage)
      .map(async (path) => ({ path, text: await readFile(join(websiteFolder, path), 'utf8') })),
  );
  const dead = deadLinks(pages, new Set(paths));
  if (dead.length > 0) throw new Error(`The website has dead links:\n${dead.join('\n')}`);
}

/** One file of the website. */
interface WebsiteFile {
  /** Path from the root of the website, with `/`. */
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the dead links of all pages of a website, in words: links without a page or file, and anchors without an
 * element. Links to other websites are not followed.
 *
 * @param pages Pages by their path, such as `adapters/langchain.html`.
 * @param files Paths of all files.
 */
export function deadLinks(pages: readonly WebsiteFile[], files: ReadonlySet<string>): string[] {
  const ids = new Map(pages.map(({ path, text }) => [path, idsOf(text)]));
  return pages.flatMap(({ path, text }) =>
    linksOf(text).flatMap((href) => {
      const [, target = '', anchor = ''] = /^([^#?]*)(?:\?[^#]*)?(?:#(.*))?$/.exec(href) ?? [];
      const file = fileOf(target, path, files);
      if (file === undefined) return [`${path}: ${href} leads to no page`];
      const found = anchor === '' || ids.get(file)?.has(decodeURIComponent(anchor));
      return found ? [] : [`${path}: ${href} leads to no heading of ${file}`];
    }),
  );
}

/** Returns the links and sources of a page within the website. */
function linksOf(html: string): string[] {
  const attributes = [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)];
  return attributes
    .map(([, value = '']) => value.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
    .filter((value) => !/^(?:[a-z][a-z+.-]*:|\/\/)/i.test(value));
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id.replaceAll('&amp;', '&')));
}

/** Returns the file that a server sends for a link of a page: itself, `NAME.html`, or `index.html` of a folder. */
function fileOf(target: string, page: string, files: ReadonlySet<string>): string | undefined {
  if (target === '') return page;
  const path = posix.join(posix.dirname(page), decodeURIComponent(target)).replace(/^\.\/?/, '');
  const candidates = path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`];
  return candidates.find((candidate) => files.has(candidate));
}

/** File that names all pages for programs that read documentation (https://llmstxt.org). */
const pageListFile = 'llms.txt';

/**
 * Writes each guide and README, and the HTTP reference, as Markdown beside its page, and the list of them. Links between
 * them lead to Markdown.
 *
 * VitePress leaves this to plugins, which copy links as they are: ours lead to files of the repository.
 */
async function writeMarkdownPages(): Promise<void> {
  const sources = pageSources();
  const lines = [
    '# actlog',
    '',
    '> Records every tool call of AI agents, checks it against policy before it runs, holds it for approval, scores its risk,',
    '> and keeps a record that an outsider can verify. The SDK is for TypeScript; the service has an HTTP API.',
  ];
  for (const { text: section, groups } of sections) {
    for (const { text: group, pages } of groups) {
      const listed = pages.filter(({ source }) => !source.startsWith(`${typescriptFolder}/`));
      if (listed.length === 0) continue;
      lines.push('', `## ${section === group ? section : `${section}: ${group}`}`, '');
      for (const { source, text } of listed) {
        const page = pagePathOf(source) as string;
        const markdown = linkedMarkdown(await readFile(join(pagesFolder, page), 'utf8'), {
          page,
          source: sources.get(page),
        });
        const target = join(websiteFolder, page);
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, markdown);
        const { title, summary } = beginningOf(markdown);
        lines.push(`- [${text ?? title}](${page})${summary === '' ? '' : `: ${summary}`}`);
      }
    }
  }
  await writeFile(join(websiteFolder, pageListFile), `${lines.join('\n')}\n`);
}

/** Returns Markdown without front matter and comments, whose links lead to other pages as Markdown. */
function linkedMarkdown(
  text: string,
  place: { readonly page: string; readonly source: string | undefined },
): string {
  const body = text.replace(/^---\n.*?\n---\n+/s, '').replaceAll(/^<!--.*?-->\n/gms, '');
  // Code keeps its parentheses.
  return body
    .split(/(^```.*?^```$)/ms)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(/\]\(([^()\s]+)\)/g, (_link, href: string) => `](${resolveHref(href, place)})`),
    )
    .join('');
}

/** Returns the first heading of Markdown, and the first sentence below it. */
export function beginningOf(markdown: string): { readonly title: string; readonly summary: string } {
  const [, title = '', rest = ''] = /^# ([^\n]*)\n+(.*)/ms.exec(markdown) ?? [];
  const [paragraph = ''] = rest.split(/\n\s*\n/);
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
  // A table, a list, code or a heading says nothing by its first line.
  if (/^[|#`\-*<>]/.test(plain)) return { title: title.replaceAll('`', ''), summary: '' };
  const [sentence = plain] = /^.*?[.:](?=\s|$)/.exec(plain) ?? [];
  return { title: title.replaceAll('`', ''), summary: sentence.replace(/:$/, '.') };
}
