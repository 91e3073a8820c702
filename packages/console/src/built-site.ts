import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type SiteFiles, typesByEnding } from './site-file.ts';

/**
 * Reads the page that the build wrote next to this module.
 *
 * @throws Error if it is missing, for example because a bundler did not copy it.
 */
export async function siteFiles(): Promise<SiteFiles> {
  try {
    // Not at the top level: a CommonJS bundle has no such URL but must still load.
    const folder = new URL('./site/', import.meta.url);
    const names = await readdir(folder);
    const files = names.map(async (name) => {
      const type = typesByEnding[extname(name)] ?? 'application/octet-stream';
      return [name, { type, body: await readFile(new URL(name, folder), 'utf8') }] as const;
    });
    return Object.fromEntries(await Promise.all(files));
  } catch (cause) {
    throw new Error('The files of the console cannot be read; exclude @actlog/console from the bundle.', {
      cause,
    });
  }
}
