// Writes the page next to the built package.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { siteFiles } from './bundle-site.ts';

const folder = join(import.meta.dirname, 'dist', 'site');
// Files of an earlier build have other names.
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, { body, etag, compressed }] of Object.entries(await siteFiles())) {
  await writeFile(join(folder, name), body);
  await writeFile(join(folder, `${name}.etag`), etag);
  await writeFile(join(folder, `${name}.br`), compressed.br);
  await writeFile(join(folder, `${name}.gzip`), compressed.gzip);
}
