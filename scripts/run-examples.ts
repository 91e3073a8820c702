// Runs every example in its own process, and prints the output of those that fail.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

const programs = globSync('examples/*/src/main.ts', { cwd: root }).sort();
let failed = 0;
for (const program of programs) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning', join(root, program)],
    { cwd: root, encoding: 'utf8', timeout: 120_000 },
  );
  console.log(`${status === 0 ? '✓' : '✗'} ${program}`);
  if (status === 0) continue;
  failed += 1;
  console.log(stdout, stderr);
}
console.log(`examples: ${programs.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && programs.length > 0 ? 0 : 1;
