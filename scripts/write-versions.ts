// Copies the version of each package's manifest to the line in its sources that states it.
import { writeFileSync } from 'node:fs';
import { statedVersions, versionLine } from './versions.ts';

for (const { file, text, version } of statedVersions()) {
  writeFileSync(file, text.replace(versionLine, `export const version = '${version}';`));
}
