// Checks what a user would install: packs every package, lints the tarballs, installs them into an empty
// project, loads and compiles every entry, and runs the README's snippets as printed.
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { Consumer } from './packed/consumer.ts';
import { compileEntries, entriesOf, loadEntries, runCommands } from './packed/entries.ts';
import { runSnippets, snippetsOf } from './packed/snippets.ts';
import { packAll, problemsOf } from './packed/tarballs.ts';
import { publishedPackages, root } from './workspace.ts';

/** The oldest TypeScript that is supported, and the newest. */
const compilers = {
  'typescript-oldest': 'npm:typescript@5.7.3',
  'typescript-newest': 'npm:typescript@7.0.2',
};

const tarballs = packAll();
console.log(`packed ${tarballs.length} packages`);

const found = await Promise.all(tarballs.map(problemsOf));
found.forEach((problems, index) => {
  for (const problem of problems) console.error(`✗ ${tarballs[index]?.manifest.name}: ${problem}`);
});
if (found.some((problems) => problems.length > 0)) process.exit(1);
console.log('✓ publint and attw find nothing');

const consumer = Consumer.install(tarballs, {
  '@langchain/core': '1.2.13',
  '@langchain/langgraph': '1.4.18',
  '@types/node': '24.19.2',
  langchain: '1.5.14',
  zod: '^4.6.7',
  ...compilers,
});
try {
  const entries = entriesOf(tarballs);
  loadEntries(consumer, entries);
  console.log(`✓ ${entries.length} entries load by import and by require`);
  console.log(`✓ commands answer: ${runCommands(consumer, tarballs).join(', ')}`);
  const paths = Object.keys(compilers).map((name) => `node_modules/${name}/bin/tsc`);
  compileEntries(consumer, entries, paths);
  console.log('✓ types resolve in TypeScript 5.7 and 7, by node16, nodenext and bundler');
  const readmes = publishedPackages().map(({ folder }) => join(folder, 'README.md'));
  const guides = globSync('docs/*.md', { cwd: root }).sort();
  const pages = ['README.md', ...guides].map((page) => join(root, page));
  pages.push(...readmes.filter((page) => existsSync(page)));
  await runSnippets(consumer, pages.flatMap(snippetsOf));
} finally {
  consumer.remove();
}
