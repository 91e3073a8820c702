// Runs every example in its own process, as many at once as there are cores, and prints the output of those that fail.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mapConcurrent } from '@actlog/client/scripts';
import { root } from './workspace.ts';

const run = promisify(execFile);
const programs = globSync('examples/*/src/main.ts', { cwd: root }).sort();

/** Runs an example to its end, and returns its output if it fails. */
async function failureOf(program: string): Promise<{ program: string; output?: string }> {
  const args = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning', join(root, program)];
  try {
    await run(process.execPath, args, { cwd: root, timeout: 120_000 });
    return { program };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { program, output: `${stdout}${stderr}${error}` };
  }
}

let failed = 0;
for await (const { program, output } of mapConcurrent(programs, failureOf, {
  concurrency: availableParallelism(),
})) {
  console.log(`${output === undefined ? '✓' : '✗'} ${program}`);
  if (output === undefined) continue;
  failed += 1;
  console.log(output);
}
console.log(`examples: ${programs.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && programs.length > 0 ? 0 : 1;
