import { createHash } from 'node:crypto';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const packageFolder = join(import.meta.dirname, '..', 'dist', 'site');

/** Files of the website that a server does not send. */
const left = ['404.html', 'hashmap.json'];

/** Writes the compressed files of the website into the package, and the hashes of its inline scripts. */
export async function writePackage(): Promise<void> {
  await rm(packageFolder, { recursive: true, force: true });
  const paths = globSync('**/*.*', { cwd: websiteFolder }).filter((path) => !left.includes(path));
  const scripts = new Set<string>();
  let bytes = 0;
  for (const path of paths) {
    const body = await readFile(join(websiteFolder, path));
    if (path.endsWith('.html')) for (const hash of inlineScripts(body.toString())) scripts.add(hash);
    const target = join(packageFolder, `${path}.gz`);
    await mkdir(dirname(target), { recursive: true });
    const compressed = gzipSync(body, { level: 9 });
    bytes += compressed.length;
    await writeFile(target, compressed);
  }
  await writeFile(join(packageFolder, 'scripts.json'), JSON.stringify([...scripts].sort()));
  console.log(
    `  ${paths.length} files, ${(bytes / 1e6).toFixed(1)} MB compressed, ${scripts.size} inline scripts`,
  );
}

/** Returns the sources of a content security policy that allow the inline scripts of a page. */
function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}

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
