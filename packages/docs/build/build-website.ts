import { globSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vitepress';
import { makePortable, notFoundPage } from './make-portable.ts';
import { websiteFolder } from './repository.ts';
import { deadLinks } from './website-links.ts';

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
