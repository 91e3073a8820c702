import { loadDialect } from './dialects/load-dialect.ts';
import { HookHandler } from './hook-handler.ts';
import { type HookOptions, parseHookOptions, usage } from './hook-options.ts';
import type { HookOutput } from './hook-output.ts';
import { readInput } from './read-input.ts';

/** Exit code with which all agents block a call (and that of invalid options). */
const blocked = 2;
/** Exit code of a failure that does not block a call. */
const failed = 1;

/**
 * Runs the command: reads an event from stdin, records or checks the call, and prints the decision.
 *
 * @param args - arguments after `actlog hook`
 * @returns the exit code; nothing is thrown
 */
export async function runHook(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return print({ exitCode: 0 }, usage);
  let options: HookOptions;
  try {
    options = parseHookOptions(args);
  } catch (error) {
    // It is not known if calls are to be guarded.
    return print({ exitCode: blocked, stderr: messageOf(error) });
  }
  return print(await outputFor(options));
}

async function outputFor(options: HookOptions): Promise<HookOutput> {
  const dialect = await loadDialect(options.agent);
  let isFailClosed = isClosedByOptions(options);
  let isBefore = true;
  try {
    const handler = new HookHandler(options, dialect);
    isFailClosed = handler.isFailClosed;
    const { text, value } = await readInput();
    const event = dialect.parse(value, options.eventName);
    isBefore = event.kind === 'before';
    const output = await handler.handle(event, text);
    const problems = handler.problems.map(messageOf);
    return problems.length === 0 ? output : { ...output, stderr: problems.join('\n') };
  } catch (error) {
    const exitCode = isBefore && isFailClosed ? blocked : isBefore ? dialect.openFailureExitCode : failed;
    const lets = isBefore && exitCode !== blocked ? dialect.pass : {};
    return { ...lets, exitCode, stderr: messageOf(error) };
  }
}

/** Returns `true` unless calls are known to run when the hook fails: the options of the guard may be what is invalid. */
function isClosedByOptions({ guard }: HookOptions): boolean {
  const mode = guard.mode ?? process.env.ACTLOG_GUARD?.trim();
  const onUnavailable = guard.onUnavailable ?? process.env.ACTLOG_GUARD_ON_UNAVAILABLE?.trim();
  return mode === 'enforce' && onUnavailable !== 'allow';
}

function print({ stdout, stderr, exitCode }: HookOutput, text = ''): number {
  if (text) process.stdout.write(text);
  if (stdout) process.stdout.write(`${JSON.stringify(stdout)}\n`);
  if (stderr) process.stderr.write(`[actlog] ${stderr}\n`);
  return exitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'An unknown error occurred.';
}
