import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Root of the repository. */
export const root = join(import.meta.dirname, '..', '..', '..');

/** Address of the repository on its forge. */
export const forge = 'https://github.com/actlog/actlog';

/** Address at which the workflow publishes the site. */
export const publishedAt = 'https://actlog.github.io/actlog/';

/** Folder of the pages that VitePress reads: copies of the repository's files, and generated pages. */
export const pagesFolder = join(root, 'temp', 'docs', 'pages');

/** Folder of the website as plain files, to be published. */
export const websiteFolder = join(root, 'temp', 'docs', 'website');

/** `true` if the repository has a file or folder at `path`, relative to its root. */
export function isInRepository(path: string): boolean {
  return existsSync(join(root, path));
}

/** `true` if the existing `path`, relative to the root of the repository, is a folder. */
export function isFolder(path: string): boolean {
  return statSync(join(root, path)).isDirectory();
}
