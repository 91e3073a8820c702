import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { cacheControlOf, type SiteFile, type SiteFiles, typesByEnding } from './site-file.ts';

/**
 * Reads the page that the build wrote next to this module.
 *
 * @throws Error if it is missing, for example because a bundler did not copy it.
 */
export async function siteFiles(): Promise<SiteFiles> {
  try {
    // Not at the top level: a CommonJS bundle has no such URL but must still load.
    const folder = new URL('./site/', import.meta.url);
    const names = (await readdir(folder)).filter((name) => extname(name) in typesByEnding);
    const files = names.map(async (name) => [name, await builtFile(folder, name)] as const);
    return Object.fromEntries(await Promise.all(files));
  } catch (cause) {
    throw new Error('The files of the console cannot be read; exclude @actlog/console from the bundle.', {
      cause,
    });
  }
}

async function builtFile(folder: URL, name: string): Promise<SiteFile> {
  const [body, etag, br, gzip] = await Promise.all([
    readFile(new URL(name, folder), 'utf8'),
    readFile(new URL(`${name}.etag`, folder), 'utf8'),
    readFile(new URL(`${name}.br`, folder)),
    readFile(new URL(`${name}.gzip`, folder)),
  ]);
  const type = typesByEnding[extname(name)] ?? '';
  return { type, body, cacheControl: cacheControlOf(name), etag, compressed: { br, gzip } };
}
