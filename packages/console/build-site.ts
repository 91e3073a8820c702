// Writes the page next to the built package.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { siteFiles } from './bundle-site.ts';

const folder = join(import.meta.dirname, 'dist', 'site');
await mkdir(folder, { recursive: true });
for (const [name, { body }] of Object.entries(await siteFiles())) await writeFile(join(folder, name), body);
