import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Arguments of Node that run the command from its sources, before the command's own arguments. */
export const commandLine: readonly string[] = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '../src/bin.ts'),
];

/** Returns the environment of the command: these variables, and none of the user's settings. */
export function commandEnvironment(variables: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...variables };
}

/** Runs a program to its end; rejects with its output when it fails. */
export const run = promisify(execFile);
