import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fromSource } from '../measure/from-source.ts';

/** Runs a program of this folder in a child process and returns its message. */
export async function runProgram<Result>(file: string, args: readonly string[]): Promise<Result> {
  const child = fork(join(import.meta.dirname, file), args, {
    execArgv: [...fromSource, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const results: Result[] = [];
  child.on('message', (message) => results.push(message as Result));
  const [code] = await once(child, 'exit');
  if (results[0] === undefined)
    throw new Error(`${file} ${args.join(' ')} ended with ${code} and no result.`);
  return results[0];
}
