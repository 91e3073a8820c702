import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Arguments of Node that run the command from its sources, before the command's own arguments. */
export const commandLine: readonly string[] = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '../src/bin.ts'),
];

/** Runs a program to its end; rejects with its output when it fails. */
export const run = promisify(execFile);
