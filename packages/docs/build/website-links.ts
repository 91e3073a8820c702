import { posix } from 'node:path';

/** One file of the website. */
export interface WebsiteFile {
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
