import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type SiteFiles, typesByEnding } from './site-file.ts';

/**
 * Reads the page that the build wrote beside this module.
 *
 * @throws Error where it is not there, as when a bundler left it behind.
 */
export async function siteFiles(): Promise<SiteFiles> {
  try {
    // Not at the top: a bundle that is CommonJS has no such address, and has to load all the same.
    const folder = new URL('./site/', import.meta.url);
    const names = await readdir(folder);
    const files = names.map(async (name) => {
      const type = typesByEnding[extname(name)] ?? 'application/octet-stream';
      return [name, { type, body: await readFile(new URL(name, folder), 'utf8') }] as const;
    });
    return Object.fromEntries(await Promise.all(files));
  } catch (cause) {
    throw new Error('The files of the console cannot be read: leave @actlog/console out of the bundle.', {
      cause,
    });
  }
}
