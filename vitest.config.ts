import { existsSync, globSync, readFileSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { defaultServerConditions, type Plugin } from 'vite';
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * Projects share one root, and with it the transformed sources: a project with a root of its own would transform every
 * package that it imports anew.
 */
const sharedRoot = import.meta.dirname;

const patterns = [
  'src/**/*.test.ts',
  'site/**/*.test.ts',
  'build/**/*.test.ts',
  'tests/**/*.test.ts',
  '*.test.ts',
];

/** Files of `npm run test:all` alone. */
const slow = '**/*.slow.test.ts';

/** Patterns of files in a folder, from the root. */
function within(folder: string, files: readonly string[]): string[] {
  return files.map((file) => `${folder}/${file}`);
}

/** Takes the packages of a manifest from there, wherever the sources of a package import them. */
function peersOf(folder: string): Plugin {
  const manifest = `${import.meta.dirname}/${folder}/package.json`;
  const peers = Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).dependencies);
  return {
    name: `peers of ${folder}`,
    enforce: 'pre',
    resolveId(source, importer) {
      const isPeer = peers.some((peer) => source === peer || source.startsWith(`${peer}/`));
      return isPeer && importer !== manifest ? this.resolve(source, manifest) : undefined;
    },
  };
}

/** Paths of tests in the command. Projects of other folders are left out: each takes time to set up. */
const paths = process.argv
  .slice(2)
  .filter((argument) => existsSync(argument))
  .map((path) => relative(sharedRoot, resolve(path)));

function isWanted(folder: string): boolean {
  if (paths.length === 0) return true;
  return paths.some((path) => `${path}/`.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${path}/`));
}

/**
 * Has tests reuse the threads that write to SQLite files, from a bundle. Each server on a file starts one, which loads its
 * 400 modules anew. The sources are read once, so not while they are edited.
 */
function reusedThreads(): Plugin {
  const file = `${import.meta.dirname}/node_modules/.cache/sqlite-worker/thread.mjs`;
  const sources = `${import.meta.dirname}/packages/server/src`;
  let isBundled = false;
  return {
    name: 'reused threads of SQLite',
    apply: () => process.argv.includes('run'),
    // Called for each project.
    buildStart() {
      if (isBundled) return;
      isBundled = true;
      // Another run may be reading it.
      const written = `${file}.${process.pid}`;
      buildSync({
        stdin: {
          contents: `
            import { parentPort } from 'node:worker_threads';
            import { serveWriter } from './ingest/sqlite-thread.ts';
            parentPort.on('message', ({ port, data }) => serveWriter(port, data));`,
          resolveDir: sources,
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        conditions: ['@actlog/source'],
        external: ['pg-native'],
        outfile: written,
      });
      renameSync(written, file);
    },
    transform: {
      filter: { id: /\/packages\/server\/src\/(?:open-storage|storage\/sqlite\/sqlite-writer)\.ts$/ },
      handler: (code) =>
        code
          .replace('threadFile(import.meta.url)', `new URL(${JSON.stringify(pathToFileURL(file))})`)
          .replace(
            '"node:worker_threads"',
            JSON.stringify(`${import.meta.dirname}/scripts/reused-thread.ts`),
          ),
    },
  };
}

// Packages are found by their manifests, so that a new one needs no edit here.
const folders = globSync([
  'packages/*/package.json',
  'packages/adapters/*/package.json',
  'testing/*/package.json',
  'bench/package.json',
])
  .map((manifest) => dirname(manifest))
  .filter(isWanted);

/**
 * Name of the project that tests a package. Packages share one if they load the same sources, which a worker then loads
 * once; those with a recorder of the process have one each.
 */
function projectOf(folder: string): string {
  if (folder.startsWith('packages/adapters/')) return 'adapters';
  const name = basename(folder);
  return ['protocol', 'policy', 'risk', 'server', 'console', 'contract', 'msw'].includes(name)
    ? 'server'
    : name;
}

const projects = Object.entries(Object.groupBy(folders, projectOf)).map(([name, group = []]) => ({
  extends: true as const,
  root: sharedRoot,
  test: {
    name,
    include: group.flatMap((folder) => within(folder, patterns)),
    // The rest belongs to parts of `npm run test:all`.
    exclude: [
      ...configDefaults.exclude,
      slow,
      ...group.flatMap((folder) => within(folder, ['tests/{postgres,site,screens}/**'])),
    ],
  },
}));

// The repository's own files, such as its workflows.
const repository = {
  extends: true as const,
  root: sharedRoot,
  test: { name: 'repository', include: ['scripts/*.test.ts'] },
};

// Crashes, real agents, other runtimes, and suites that repeat a promise over hundreds of cases.
const slowProjects = Object.entries(
  Object.groupBy(
    folders.filter((folder) => globSync(`${folder}/{src,tests}/${slow}`).length > 0),
    projectOf,
  ),
).map(([name, group = []]) => ({
  extends: true as const,
  root: sharedRoot,
  test: { name, include: group.map((folder) => `${folder}/{src,tests}/${slow}`) },
}));

// What types promise, in all packages at once: each project of its own would have the compiler read everything anew.
const types = {
  extends: true as const,
  test: {
    name: 'types',
    include: [],
    typecheck: {
      enabled: true,
      only: true,
      tsconfig: 'tsconfig.type-tests.json',
      include: ['packages/**/*.test-d.ts'],
      exclude: configDefaults.exclude,
    },
  },
};

// Files whose tests are about HTTP, other services, the format of spans or the scores, not about storage: they run on SQLite
// alone.
const withoutStorage = [
  'broken-databases',
  'channels/mail',
  'channels/push',
  'channels/slack',
  'channels/teams',
  'closing',
  'console/access',
  'console/command',
  'console/requests',
  'disconnected-clients',
  'forward/documented-settings',
  'forward/ocsf',
  'forward/otlp',
  'forward/s3',
  'forward/splunk',
  'forward/syslog',
  'history/blocks.slow',
  'history/settings',
  'idle-connections.slow',
  'log-output',
  'log-output.slow',
  'otlp/exporters',
  'otlp/fuzz.slow',
  'otlp/python-emitters',
  'otlp/refusals',
  'otlp/requests',
  'owasp',
  'owasp-surface',
  'sign-in/settings',
  'sign-in/trusted-proxy',
  'transport',
  'unread-responses.slow',
].map((name) => `tests/${name}.test.ts`);

// A package with a PostgreSQL of its own has its tests run on that too.
const onPostgres = (include: string, exclude: readonly string[] = []) =>
  folders
    .filter((folder) => existsSync(`${folder}/tests/postgres/global-setup.ts`))
    .map((folder) => ({
      extends: true as const,
      root: sharedRoot,
      test: {
        name: `${basename(folder)}-postgres`,
        include: [`${folder}/tests/${include}`],
        exclude: [...configDefaults.exclude, ...exclude, ...within(folder, withoutStorage)],
        globalSetup: [`${import.meta.dirname}/${folder}/tests/postgres/global-setup.ts`],
      },
    }));

// Adapters are tried once more with the oldest peers that they work with.
const lowest = globSync('packages/adapters/*/tests/lowest/package.json')
  .map((manifest) => dirname(manifest))
  .map((folder) => ({ folder, adapter: dirname(dirname(folder)) }))
  .filter(({ adapter }) => isWanted(adapter))
  .map(({ folder, adapter }) => ({
    extends: true as const,
    root: sharedRoot,
    plugins: [peersOf(folder)],
    test: {
      name: `${basename(adapter)}-lowest`,
      include: within(adapter, patterns),
      // What covers a whole process would also cover the latest version of the framework in the same worker.
      isolate: folder.includes('/langchain/'),
    },
  }));

/** Projects of `npm test`, and of the parts of `npm run test:all`; scripts/test-all.ts runs them. */
const parts = {
  default: [
    ...projects,
    repository,
    ...(paths.length === 0 || process.argv.includes('types') ? [types] : []),
  ],
  slow: [...slowProjects, ...onPostgres(slow)],
  postgres: onPostgres('**/*.test.ts', [slow]),
  oldest: lowest,
};

function projectsOf(part: string) {
  if (part in parts) return parts[part as keyof typeof parts];
  throw new Error(`ACTLOG_TEST_PART must be one of ${Object.keys(parts).join(', ')}, got "${part}".`);
}

export default defineConfig({
  plugins: [reusedThreads()],
  // Tests run the sources: no build stands between an edit and its test. Node, which loads what is not ours, is given
  // the same conditions, and some packages keep under `module` what only a bundler can load.
  ssr: {
    resolve: {
      conditions: ['@actlog/source', ...defaultServerConditions.filter((name) => name !== 'module')],
    },
  },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Only where one failed test of ten thousand costs half an hour. The log names each test that needed it.
    retry: process.env.CI === 'true' ? 1 : 0,
    expect: { poll: { timeout: 20_000 } },
    // Tests leave much garbage that is young, and two other workers want the cores: a tenth less processor time.
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'],
    setupFiles: [`${import.meta.dirname}/scripts/test-setup.ts`],
    isolate: false,
    // Hundreds of processes load the same sources.
    env: { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/compiled` },
    // Most of the time a test waits for a process, a browser or a database: three files go well on two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    passWithNoTests: false,
    projects: projectsOf(process.env.ACTLOG_TEST_PART ?? 'default'),
    coverage: { provider: 'v8', include: ['packages/**/src/**/*.ts'] },
  },
});
