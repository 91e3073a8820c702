// Deletes the output of builds.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, root } from './workspace.ts';

for (const { folder } of publishedPackages()) rmSync(join(folder, 'dist'), { recursive: true, force: true });
for (const name of ['temp', 'coverage']) rmSync(join(root, name), { recursive: true, force: true });
