import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { placeholderBase } from './portable-base.ts';
import { withBase, withRelativeUrls } from './relative-urls.ts';
import { publishedAt, websiteFolder } from './repository.ts';

/** Page that the forge sends for any unknown path; relative URLs would depend on that path. */
export const notFoundPage = '404.html';

/** Code in a script of the website for its path, from the address of the script. */
const baseOfChunk = 'new URL("../../",import.meta.url).pathname';

/**
 * Replaces the placeholder in all files of the website, so that it works below any path.
 *
 * @throws Error if a file still contains it.
 */
export async function makePortable(): Promise<void> {
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
