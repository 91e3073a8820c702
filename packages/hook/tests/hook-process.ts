import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { actlogScript } from './actlog-script.ts';

/** Result of a hook process. */
export interface HookResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** JSON on stdout; undefined if there is none. */
  readonly output: unknown;
  readonly stderr: string;
}

/** Runs `actlog hook` with an event, or with the bytes of one, as an agent does. */
export async function runHook(
  args: readonly string[],
  event: unknown,
  environment: Record<string, string>,
): Promise<HookResult> {
  const child = spawn(process.execPath, [actlogScript, 'hook', ...args], { env: environment });
  const isInput = typeof event === 'string' || Buffer.isBuffer(event);
  return resultOf(child, isInput ? event : JSON.stringify(event));
}

/** Sends the input to a process, and waits for its end. */
export async function resultOf(child: ChildProcess, input: string | Buffer): Promise<HookResult> {
  const { stdin, stdout, stderr } = child as Required<ChildProcess>;
  // The process may end without reading all of it.
  stdin?.on('error', () => {});
  stdin?.end(input);
  const [output, errors, [exitCode, signal]] = await Promise.all([
    text(stdout as NodeJS.ReadableStream),
    text(stderr as NodeJS.ReadableStream),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { exitCode, signal, output: output.trim() ? JSON.parse(output) : undefined, stderr: errors };
}
