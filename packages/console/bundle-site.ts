// Bundles the page. The build writes the result next to the built package; programs that run from source receive it
// as it is made, so that an edit needs no build before its test.
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { palettePlugin } from './bundle-palette.ts';
import { compressedFile } from './compress-site.ts';
import type { SiteFiles } from './src/site-file.ts';

const folder = join(import.meta.dirname, 'site');

/** Folder of the palette, whose colors the build writes into the style sheet. */
const paletteFolder = 'node_modules/@radix-ui/colors/';

/** Returns the folders of the packages whose code is in the bundle. */
function packagesIn({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).map((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+\//.exec(input)?.[0]);
  const found = new Set([...folders.filter((path) => path !== undefined), paletteFolder]);
  return [...found].map((path) => join(import.meta.dirname, path)).sort();
}

/** Returns the licence notices of all bundled packages. */
function licences(metafile: Metafile): string {
  const notices = packagesIn(metafile).map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'license', 'LICENSE.md'].find((candidate) => existsSync(join(path, candidate)));
    if (file === undefined) throw new Error(`${name} has no licence file.`);
    return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
  });
  return `The page is made with:\n\n${notices.join(`\n${'-'.repeat(72)}\n\n`)}`;
}

/** Returns links to the scripts that the first one imports, so that a browser need not read it to request them. */
function preloads({ outputs }: Metafile): string {
  const first = Object.values(outputs).find(({ entryPoint }) => entryPoint === 'site/main.tsx');
  const imported = (first?.imports ?? []).filter(({ kind }) => kind === 'import-statement');
  return imported.map(({ path }) => `    <link rel="modulepreload" href="${basename(path)}" />\n`).join('');
}

const options = {
  absWorkingDir: import.meta.dirname,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  outdir: 'dist/site',
  bundle: true,
  platform: 'browser',
  target: 'es2023',
  conditions: ['@actlog/source', 'browser'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  metafile: true,
  write: false,
  logLevel: 'error',
  plugins: [palettePlugin],
} as const satisfies BuildOptions;

/** Builds the files of the page. */
export async function siteFiles(): Promise<SiteFiles> {
  const [{ outputFiles, metafile }, early] = await Promise.all([
    build({
      ...options,
      entryPoints: { console: 'site/main.tsx', style: 'site/style.css' },
      splitting: true,
      format: 'esm',
    }),
    // A classic script, which may not import another.
    build({ ...options, entryPoints: { 'color-scheme': 'site/early-color-scheme.ts' }, format: 'iife' }),
  ]);
  const bundled = [...outputFiles, ...early.outputFiles].map(
    ({ path, text }) => [basename(path), text] as const,
  );
  let page = await readFile(join(folder, 'index.html'), 'utf8');
  for (const [path, { entryPoint }] of Object.entries({ ...metafile.outputs, ...early.metafile.outputs })) {
    const source = entryPoint && relative('site', entryPoint);
    if (source) page = page.replace(`"${source}"`, `"${basename(path)}"`);
  }
  page = page.replace('  </head>', `${preloads(metafile)}  </head>`);
  const all: (readonly [name: string, body: string])[] = [
    ...bundled,
    ['index.html', page],
    ['icon.svg', await readFile(join(folder, 'icon.svg'), 'utf8')],
    ['licences.txt', licences(metafile)],
  ];
  const files = all.map(async ([name, body]) => [name, await compressedFile(name, body)] as const);
  return Object.fromEntries(await Promise.all(files));
}
