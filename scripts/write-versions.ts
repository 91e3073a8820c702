// Copies the version of each package's manifest to its src/version.ts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages } from './workspace.ts';

for (const { folder, manifest } of publishedPackages()) {
  const file = join(folder, 'src', 'version.ts');
  if (!existsSync(file)) continue;
  const text = readFileSync(file, 'utf8');
  const written = text.replace(/version = '[^']*'/, `version = '${manifest.version}'`);
  if (!written.includes(`version = '${manifest.version}'`)) {
    throw new Error(`${file} has no line \`version = '…'\` to write ${manifest.version} into.`);
  }
  writeFileSync(file, written);
}
