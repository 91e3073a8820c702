// Writes a second set of declarations, for CommonJS modules, of the packages whose framework has incompatible types for
// `import` and `require`. Their `exports` name the second set under `require`; the JavaScript is the same ES module.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeclaredTwice, publishedPackages } from './workspace.ts';

/** Matches `./name.ts` between quotes, by which declarations import each other. */
const ownModule = /(?<=(['"])\.{1,2}\/[^'"]*)\.ts(?=\1)/g;

for (const { folder, manifest } of publishedPackages()) {
  if (!isDeclaredTwice(manifest)) continue;
  const dist = join(folder, 'dist');
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    const text = readFileSync(join(dist, file), 'utf8');
    writeFileSync(join(dist, file.replace(/\.ts$/, '.cts')), text.replace(ownModule, '.cjs'));
  }
}
