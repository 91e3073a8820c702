import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { InnerProcess } from '../../../scripts/inner-process.ts';
import { flush } from '../src/flush.ts';
import { runHook as runHookHere } from '../src/run-hook.ts';
import { startFlush } from '../src/start-flush.ts';
import { actlogScript } from './actlog-script.ts';

/** Result of a hook process. */
export interface HookResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** JSON on stdout; undefined if there is none. */
  readonly output: unknown;
  readonly stderr: string;
}

/** Deliveries that hooks in this process have started. */
const deliveries: Promise<void>[] = [];

vi.mock('../src/start-flush.ts');

/**
 * Runs `actlog hook` with an event, or with the bytes of one, as an agent does, in this process. It delivers in this
 * process, too, beside the test as the process of {@link startFlush} does.
 */
export async function runHook(
  args: readonly string[],
  event: unknown,
  environment: Record<string, string>,
): Promise<HookResult> {
  vi.mocked(startFlush).mockImplementation((agent, spoolFolder) => {
    deliveries.push(flush(agent, spoolFolder));
  });
  const hook = new InnerProcess(() => runHookHere(args), { env: environment, input: inputOf(event) });
  const { code, signal } = await hook.exit;
  return resultFrom(hook.stdout.text, { exitCode: code, signal, stderr: hook.stderr.text });
}

/** Waits for the deliveries that hooks in this process have started. */
export async function delivered(): Promise<void> {
  await Promise.all(deliveries.splice(0));
}

/** Starts `actlog hook` with an event in a process of its own, as an agent does. */
export function startHook(
  args: readonly string[],
  event: unknown,
  environment: Record<string, string>,
): { readonly child: ChildProcess; readonly result: Promise<HookResult> } {
  const child = spawn(process.execPath, [actlogScript, 'hook', ...args], { env: environment });
  return { child, result: resultOf(child, inputOf(event)) };
}

/** Sends the input to a process, and waits for its end. */
async function resultOf(child: ChildProcess, input: string | Buffer): Promise<HookResult> {
  const { stdin, stdout, stderr } = child as Required<ChildProcess>;
  // The process may end without reading all of it.
  stdin?.on('error', () => {});
  stdin?.end(input);
  const [output, errors, [exitCode, signal]] = await Promise.all([
    text(stdout as NodeJS.ReadableStream),
    text(stderr as NodeJS.ReadableStream),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return resultFrom(output, { exitCode, signal, stderr: errors });
}

function resultFrom(output: string, rest: Omit<HookResult, 'output'>): HookResult {
  return { ...rest, output: output.trim() ? JSON.parse(output) : undefined };
}

function inputOf(event: unknown): string | Buffer {
  return typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event);
}
