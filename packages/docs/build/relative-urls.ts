import { posix } from 'node:path';
import { placeholderBase } from './portable-base.ts';

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
export function withBase(html: string, base: string): string {
  return html.replaceAll(`"${placeholderBase}`, `"${base}`);
}
