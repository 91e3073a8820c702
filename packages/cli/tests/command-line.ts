import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { InnerProcess } from '../../../scripts/inner-process.ts';
import { run } from '../src/run.ts';

/** Arguments of Node that run the command from its sources, before the command's own arguments. */
export const commandLine: readonly string[] = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '../src/bin.ts'),
];

/** Returns the environment of the command: these variables, and none of the user's settings. */
export function commandEnvironment(variables: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE, TZ: 'UTC', ...variables };
}

/** Outcome of a command that ended. */
export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** Options of a run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text of standard input; none by default. */
  readonly input?: string;
  readonly cwd?: string | undefined;
  /** Width of the terminal that it runs in; it runs in pipes by default. */
  readonly columns?: number;
}

/** Starts the command in this process. */
export function start(args: readonly string[], { env, ...options }: RunOptions = {}): InnerProcess {
  const keepsRunning = args[0] === 'serve';
  return new InnerProcess(() => run(args), { ...options, env: commandEnvironment(env), keepsRunning });
}

/** Runs the command in this process to its end, as in pipes. */
export async function actlog(
  args: readonly string[],
  { input = '', ...options }: RunOptions = {},
): Promise<Ended> {
  const { stdout, stderr, exit } = start(args, { input, ...options });
  const { code } = await exit;
  return { stdout: stdout.text, stderr: stderr.text, exitCode: code };
}

/** Runs the command in a process of its own, for what only a process can show. */
export async function actlogProcess(
  args: readonly string[],
  { env = {}, input = '', cwd }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...commandLine, ...args], { env: commandEnvironment(env), cwd });
  child.stdin.on('error', () => {}); // a command that reads nothing may end first
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, exitCode };
}
