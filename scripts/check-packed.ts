// Checks the packages as a user installs them: packs every package, lints the tarballs, installs them into an empty
// project, loads and compiles every entry, and runs the README's snippets as printed, those for jest in jest.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileAsCommonJs } from './packed/commonjs.ts';
import { Consumer } from './packed/consumer.ts';
import { compileEntries, entriesOf, loadEntries, runCommands } from './packed/entries.ts';
import { notInstalled } from './packed/install-line.ts';
import { runJest } from './packed/jest.ts';
import { runSnippets, snippetsOf } from './packed/snippets.ts';
import { packAll, problemsOfAll } from './packed/tarballs.ts';
import { compileTypedReads } from './packed/typed-reads.ts';
import { type Package, publishedPackages, root } from './workspace.ts';

/** Oldest and newest supported versions of TypeScript. */
const compilers = {
  'typescript-oldest': 'npm:typescript@5.7.3',
  'typescript-newest': 'npm:typescript@7.0.2',
};

const tarballs = await packAll();
console.log(`packed ${tarballs.length} packages`);

const found = await problemsOfAll(tarballs);
found.forEach((problems, index) => {
  for (const problem of problems) console.error(`✗ ${tarballs[index]?.manifest.name}: ${problem}`);
});
if (found.some((problems) => problems.length > 0)) process.exit(1);
console.log('✓ publint and attw find no problems');

/** Dependencies of every test project besides the packages. */
const tools = { '@opentelemetry/api': '1.9.0', '@types/node': '24.19.2', zod: '^4.6.7', ...compilers };

/** Returns the peers from the registry with which the tests of a package run, as its users install them. */
function installedPeers({ folder, manifest }: Package): [string, string][] {
  const fromRegistry = (peer: string) => !tarballs.some(({ manifest: { name } }) => name === peer);
  return Object.keys(manifest.peerDependencies ?? {})
    .filter(fromRegistry)
    .map((peer) => {
      const installed = readFileSync(join(folder, 'node_modules', peer, 'package.json'), 'utf8');
      return [peer, (JSON.parse(installed) as { version: string }).version];
    });
}

/** `true` if a package does not load without another one that its user installs. */
function hasRequiredPeers({
  peerDependencies = {},
  peerDependenciesMeta = {},
}: Package['manifest']): boolean {
  return Object.keys(peerDependencies).some((peer) => peerDependenciesMeta[peer]?.optional !== true);
}

/** Installs packages like a user, loads and compiles their exports, and runs the snippets of their pages. */
async function checkProject(
  packages: readonly Package[],
  pages: readonly string[],
  manager: 'npm' | 'pnpm',
): Promise<void> {
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const own = tarballs.filter(({ manifest }) => names.has(manifest.name));
  // A package may depend on another package of this repository, which is not published yet.
  const needed = tarballs.filter(
    ({ manifest }) => names.has(manifest.name) || (manager === 'pnpm' && !hasRequiredPeers(manifest)),
  );
  const peers = Object.fromEntries(packages.flatMap(installedPeers));
  const consumer = Consumer.install(needed, { ...tools, ...peers }, manager);
  try {
    const entries = entriesOf(own);
    loadEntries(consumer, entries);
    console.log(`✓ ${entries.length} entries load by import and by require`);
    console.log(`✓ commands print their help: ${runCommands(consumer, own).join(', ') || 'there are none'}`);
    const paths = Object.keys(compilers).map((name) => `node_modules/${name}/bin/tsc`);
    compileEntries(consumer, entries, paths);
    console.log('✓ types resolve in TypeScript 5.7 and 7, by node16, nodenext and bundler');
    if (names.has('@actlog/client')) {
      compileTypedReads(consumer, paths);
      console.log('✓ results of the client have types in both');
    }
    const snippets = pages.filter((page) => existsSync(page)).flatMap((page) => snippetsOf(page));
    compileAsCommonJs(consumer, snippets, paths.at(-1) as string);
    console.log('✓ snippets have types in CommonJS modules too');
    await runSnippets(consumer, snippets);
  } finally {
    consumer.remove();
  }
}

const packages = publishedPackages();
const readmesOf = (some: readonly Package[]) => some.map(({ folder }) => join(folder, 'README.md'));
const guides = ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()].map((page) => join(root, page));
/** `true` for an adapter that is checked in its own project. The guides use the LangChain adapter. */
const isAdapterApart = ({ folder }: Package) =>
  dirname(folder).endsWith('adapters') && !folder.endsWith('langchain');
const core = packages.filter((one) => !isAdapterApart(one));
await checkProject(core, [...guides, ...readmesOf(core)], 'npm');
for (const tarball of tarballs.filter(({ manifest }) => manifest.name === '@actlog/msw')) {
  runJest(tarball, tarballs, Object.fromEntries(installedPeers(tarball)));
}
for (const page of readmesOf(packages).filter((path) => dirname(dirname(path)).endsWith('adapters'))) {
  const missing = notInstalled(page);
  if (missing.length > 0) throw new Error(`${page}: npm install does not name ${missing.join(', ')}`);
}
console.log('✓ the install lines of the adapters name what their snippets import');
const adapters = packages.filter(isAdapterApart);
await checkProject(adapters, readmesOf(adapters), 'pnpm');
