// Writes the declarations of some packages a second time, as TypeScript reads them for a CommonJS module: those whose
// framework has two sets of types, one for `import` and one for `require`, of which neither fits the other. Their
// `exports` name the second set under `require`; the JavaScript is the same ES module.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeclaredTwice, publishedPackages } from './workspace.ts';

/** `./name.ts` between quotes, as declarations import each other. */
const ownModule = /(?<=(['"])\.{1,2}\/[^'"]*)\.ts(?=\1)/g;

for (const { folder, manifest } of publishedPackages()) {
  if (!isDeclaredTwice(manifest)) continue;
  const dist = join(folder, 'dist');
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    const text = readFileSync(join(dist, file), 'utf8');
    writeFileSync(join(dist, file.replace(/\.ts$/, '.cts')), text.replace(ownModule, '.cjs'));
  }
}
