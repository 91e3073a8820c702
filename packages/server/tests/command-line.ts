import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InnerProcess } from '../../../scripts/inner-process.ts';
import { runCommand } from '../src/cli/command.ts';

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

/** Variables and folder of a command. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Starts a server by the command, in this process. */
export function start(args: readonly string[], { env, cwd }: CommandOptions = {}): InnerProcess {
  return new InnerProcess(runCommand, { args, env: commandEnvironment(env), cwd, keepsRunning: true });
}

/** Runs the command in this process to its end; rejects with its output and exit code when it fails. */
export async function runHere(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ stdout: string; stderr: string }> {
  const { env, cwd } = options;
  const command = new InnerProcess(runCommand, { args, env: commandEnvironment(env), cwd });
  const { code } = await command.exit;
  const ended = { stdout: command.stdout.text, stderr: command.stderr.text };
  if (code === 0) return ended;
  throw Object.assign(new Error(`The command failed: ${ended.stderr}`), { code, ...ended });
}

/** Runs a program to its end; rejects with its output when it fails. */
export const run = promisify(execFile);
