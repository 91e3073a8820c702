import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsup';

const root = dirname(fileURLToPath(import.meta.url));

/** The parts of a manifest that a build looks at. */
interface Manifest {
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, { readonly '@actlog/source': string }>>;
  readonly imports?: Readonly<Record<string, { readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
}

/** Every folder below `parent` that holds a package to publish. */
function packagesIn(parent: string): string[] {
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name))
    .filter((folder) => readdirSync(join(root, folder)).includes('package.json'))
    .filter((folder) => !manifestOf(folder).private);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/**
 * Returns the entry points of a package: the sources of its `exports`, its command, the targets of its `imports`, and
 * its worker threads, which are started by file name.
 */
function entriesOf(folder: string): string[] {
  const manifest = manifestOf(folder);
  const sources = Object.values(manifest.exports).map((target) => target['@actlog/source']);
  const imported = Object.values(manifest.imports ?? {}).map((target) => target.default);
  const built = [...Object.values(manifest.bin ?? {}), ...imported]
    .filter((path) => path.startsWith('./dist/'))
    .map((path) => path.replace('./dist/', './src/').replace(/\.js$/, '.ts'));
  const workers = readdirSync(join(root, folder, 'src')).filter((file) => file.endsWith('-worker.ts'));
  return [...sources, ...built, ...workers.map((file) => `./src/${file}`)].map((source) =>
    join(folder, source),
  );
}

const folders = [...packagesIn('packages'), ...packagesIn('packages/adapters')];

/** Returns the sources that are built as one CommonJS file each, with everything in it, because they start often. */
function bundlesOf(folder: string): string[] {
  return readdirSync(join(root, folder, 'src'))
    .filter((file) => file.endsWith('-bundle.ts'))
    .map((file) => join(folder, 'src', file));
}

// One process builds every package: several times faster than one process each.
export default defineConfig([
  ...folders.map((folder) => ({
    name: relative('packages', folder),
    entry: entriesOf(folder),
    outDir: join(folder, 'dist'),
    format: 'esm' as const,
    target: 'node22.19',
    skipNodeModulesBundle: true,
    removeNodeProtocol: false, // `node:sqlite` has no name without its prefix
    sourcemap: true,
    treeshake: true,
    clean: ['!**/*.cjs', '!**/*.cjs.map'],
    dts: false, // `tsc --build` writes the declarations
  })),
  ...folders
    .filter((folder) => bundlesOf(folder).length > 0)
    .map((folder) => ({
      name: `${relative('packages', folder)} (bundles)`,
      entry: bundlesOf(folder),
      outDir: join(folder, 'dist'),
      format: 'cjs' as const,
      target: 'node22.19',
      noExternal: [/^(?!undici(?:\/|$))/],
      external: ['undici', /^undici\//],
      esbuildOptions: (options: { conditions?: string[] }) => {
        options.conditions = ['@actlog/source'];
      },
      shims: true, // for `import.meta.url`
      removeNodeProtocol: false,
      splitting: false,
      sourcemap: true,
      clean: false,
      dts: false,
    })),
]);
