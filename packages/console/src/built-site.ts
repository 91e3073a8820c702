import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type SiteFiles, typesByEnding } from './site-file.ts';

const folder = new URL('./site/', import.meta.url);

/** Reads the page that the build wrote beside this module. */
export async function siteFiles(): Promise<SiteFiles> {
  const names = await readdir(folder);
  const files = names.map(async (name) => {
    const type = typesByEnding[extname(name)] ?? 'application/octet-stream';
    return [name, { type, body: await readFile(new URL(name, folder), 'utf8') }] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}
