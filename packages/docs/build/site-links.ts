import { posix } from 'node:path';
import { forge, isFolder, isInRepository } from './repository.ts';
import { pagePathOf } from './stage-pages.ts';

/** Place of a link. */
interface LinkPlace {
  /** File of the repository with the link; undefined for a generated page. */
  readonly source: string | undefined;
  /** Page that shows the link, such as `adapters/langchain.md`. */
  readonly page: string;
}

/** Matches links to the repository on its forge. */
const forgeLink = new RegExp(`^${forge}/(?:blob|tree)/main/([^#?]*)(#.*)?$`);

/**
 * Returns the link of the site for a link of a Markdown file: a page's relative path if the file has a page, or the
 * file on the forge. Other links stay as they are.
 *
 * @throws Error if the repository has no such file.
 */
export function resolveHref(href: string, { source, page }: LinkPlace): string {
  if (href === '' || href.startsWith('#')) return href;
  const [, forgePath, forgeHash = ''] = forgeLink.exec(href) ?? [];
  if (forgePath !== undefined) return linkTo(forgePath.replace(/\/$/, ''), forgeHash, page, href);
  // A link with a scheme leads elsewhere; relative links of a generated page lead to generated pages.
  if (/^[a-z][a-z+.-]*:/i.test(href) || source === undefined) return href;
  const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  return linkTo(posix.join(posix.dirname(source), path).replace(/\/$/, ''), hash, page, href);
}

function linkTo(path: string, hash: string, page: string, href: string): string {
  if (!isInRepository(path)) {
    throw new Error(`The link ${href} of ${page} leads to ${path}, which the repository does not have.`);
  }
  const target = pagePathOf(path) ?? pagePathOf(`${path}/README.md`);
  // A folder of packages or adapters has no README, hence no page.
  const shown = target !== undefined && isInRepository(path.endsWith('.md') ? path : `${path}/README.md`);
  if (!shown) return `${forge}/${isFolder(path) ? 'tree' : 'blob'}/main/${path}${hash}`;
  const relative = posix.relative(posix.dirname(page), target);
  return `${relative.startsWith('.') ? relative : `./${relative}`}${hash}`;
}
