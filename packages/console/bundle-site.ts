// Bundles the page. The build writes the result next to the built package; programs that run from source receive it
// as it is made, so that an edit needs no build before its test.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import palette from '@radix-ui/colors';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { parse } from 'yaml';
import { cacheControlOf, type SiteFile, type SiteFiles, typesByEnding } from './src/site-file.ts';

const scales: Readonly<Record<string, Readonly<Record<string, string>>>> = palette;

const tokens = join(import.meta.dirname, 'site', 'styles', 'tokens.css');

/** A use of a step of the palette: `var(--slate-12)`. */
const step = /var\(--([a-z]+)-(\d+)\)/g;

/** Returns the declaration of a step: its color in the light scheme and in the dark one. */
function declarationOf(scale: string, number: string): string | undefined {
  const light = scales[scale]?.[`${scale}${number}`];
  const dark = scales[`${scale}Dark`]?.[`${scale}${number}`];
  return light && dark && `--${scale}-${number}: light-dark(${light}, ${dark});`;
}

/** Returns a style sheet with the steps of the Radix palette that the tokens use. */
export function paletteStyles(tokenStyles: string): string {
  const uses = new Map(
    [...tokenStyles.matchAll(step)].map(([use, scale = '', number = '']) => [use, { scale, number }]),
  );
  const declarations = Array.from(uses.values(), ({ scale, number }) => declarationOf(scale, number));
  return `:root {\n${declarations.filter(Boolean).join('\n')}\n}\n`;
}

/** Plugin that resolves `@import "palette"` in a style sheet to the used steps of the Radix palette. */
const palettePlugin: Plugin = {
  name: 'palette',
  setup(build) {
    build.onResolve({ filter: /^palette$/ }, ({ path }) => ({ path, namespace: 'palette' }));
    build.onLoad({ filter: /.*/, namespace: 'palette' }, async () => ({
      contents: paletteStyles(await readFile(tokens, 'utf8')),
      loader: 'css',
    }));
  },
};

const packFolder = join(import.meta.dirname, '..', 'cli', 'policy-packs');

/** Plugin that resolves `import 'policy-packs'` to the packs of the command, without their tests. */
const packsPlugin: Plugin = {
  name: 'policy-packs',
  setup(build) {
    build.onResolve({ filter: /^policy-packs$/ }, ({ path }) => ({ path, namespace: 'policy-packs' }));
    build.onLoad({ filter: /.*/, namespace: 'policy-packs' }, () => {
      const files = readdirSync(packFolder).filter((file) => file.endsWith('.yaml'));
      const packs = files.sort().map((file) => {
        const text = readFileSync(join(packFolder, file), 'utf8');
        const comment = text.slice(0, text.indexOf('policies:')).split('\n');
        const [title = file, ...explanation] = comment
          .filter((line) => /^# (?!yaml-language-server)/.test(line))
          .map((line) => line.slice(2));
        const { policies } = parse(text) as { readonly policies: unknown };
        return { name: basename(file, '.yaml'), title, explanation: explanation.join(' '), policies };
      });
      return { contents: `export const packs = ${JSON.stringify(packs)};`, loader: 'js' };
    });
  },
};

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Returns a file with everything that a server sends with it. */
async function compressedFile(name: string, body: string): Promise<SiteFile> {
  const bytes = Buffer.from(body);
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  };
  const [br, gz] = await Promise.all([toBrotli(bytes, { params }), toGzip(bytes, { level: 9 })]);
  return {
    type: typesByEnding[extname(name)] ?? '',
    body,
    cacheControl: cacheControlOf(name),
    etag: etagOf(bytes),
    compressed: { br, gzip: gz },
  };
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

const folder = join(import.meta.dirname, 'site');

/** Folder of the palette, whose colors the build writes into the style sheet. */
const paletteFolder = dirname(createRequire(import.meta.url).resolve('@radix-ui/colors/package.json'));

/** Returns the folders of the packages whose code is in the bundle. */
function packagesIn({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).map((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+\//.exec(input)?.[0]);
  const found = folders.filter((path) => path !== undefined).map((path) => join(import.meta.dirname, path));
  return [...new Set([...found, paletteFolder])].sort();
}

/** Returns the license notices of all bundled packages. */
function licenses(metafile: Metafile): string {
  const notices = packagesIn(metafile).map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'license', 'LICENSE.md'].find((candidate) => existsSync(join(path, candidate)));
    if (file === undefined) throw new Error(`${name} has no license file.`);
    return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
  });
  return `The page is made with:\n\n${notices.join(`\n${'-'.repeat(72)}\n\n`)}`;
}

/** Returns an output and everything that it imports statically. */
function withImports(outputs: Metafile['outputs'], source: string): string[] {
  const found = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === source);
  for (const path of found) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !found.includes(imported)) found.push(imported);
    }
  }
  return found;
}

/**
 * Plugin that makes each script that is loaded later import the first one, which has run by then. Otherwise the bundler
 * would put each set of modules that a later script shares with the first one into a separate file, and a first visit
 * over a slow line would wait for dozens of them.
 */
const oneFirstScript: Plugin = {
  name: 'one-first-script',
  setup(build) {
    build.onResolve({ filter: /^\./, namespace: 'file' }, async ({ kind, path, pluginData, ...rest }) => {
      if (kind !== 'dynamic-import' || pluginData === 'resolved') return undefined;
      const resolved = await build.resolve(path, { ...rest, kind, pluginData: 'resolved' });
      return { ...resolved, pluginData: 'later' };
    });
    build.onLoad({ filter: /\.tsx?$/, namespace: 'file' }, async ({ path, pluginData }) => {
      if (pluginData !== 'later') return undefined;
      const first = JSON.stringify(join(folder, 'main.tsx'));
      return {
        contents: `${await readFile(path, 'utf8')}\nimport ${first};\n`,
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      };
    });
  },
};

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
} as const satisfies BuildOptions;

/** Builds the files of the page. */
export async function siteFiles(): Promise<SiteFiles> {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: { console: 'site/main.tsx', style: 'site/style.css' },
    splitting: true,
    format: 'esm',
    plugins: [palettePlugin, packsPlugin, oneFirstScript],
  });
  const [entry = '', ...imported] = withImports(metafile.outputs, 'site/main.tsx');
  const later = (page: string) =>
    withImports(metafile.outputs, page)
      .filter((path) => path !== entry && !imported.includes(path))
      .map((path) => basename(path));
  const pageScripts = { session: later('site/pages/session.tsx'), later: later('site/pages/later-pages.ts') };
  const early = await build({
    ...options,
    entryPoints: { early: 'site/early.ts' },
    // A classic script, which may not import another.
    format: 'iife',
    define: { pageScripts: JSON.stringify(pageScripts) },
  });
  // Its name never changes: browsers find a new version at the address of the old one.
  const worker = await build({
    ...options,
    entryNames: '[name]',
    entryPoints: { 'service-worker': 'site/service-worker.ts' },
    format: 'iife',
  });
  const bundled = [...outputFiles, ...worker.outputFiles, ...early.outputFiles].map(
    ({ path, text }) => [basename(path), text] as const,
  );
  let page = await readFile(join(folder, 'index.html'), 'utf8');
  for (const [path, { entryPoint }] of Object.entries({ ...metafile.outputs, ...early.metafile.outputs })) {
    const source = entryPoint && relative('site', entryPoint);
    if (source) page = page.replace(`"${source}"`, `"${basename(path)}"`);
  }
  const preloads = imported.map((path) => `    <link rel="modulepreload" href="${basename(path)}" />\n`);
  page = page.replace('  </head>', `${preloads.join('')}  </head>`);
  const all: (readonly [name: string, body: string])[] = [
    ...bundled,
    ['index.html', page],
    ['actlog.webmanifest', await readFile(join(folder, 'actlog.webmanifest'), 'utf8')],
    ['icon.svg', await readFile(join(folder, 'icon.svg'), 'utf8')],
    ['licenses.txt', licenses(metafile)],
  ];
  const files = all.map(async ([name, body]) => [name, await compressedFile(name, body)] as const);
  return Object.fromEntries(await Promise.all(files));
}
