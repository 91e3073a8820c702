import { describeError } from './errors/describe-error.ts';
import { failureExitCode } from './errors/failure-exit-code.ts';
import { exitCodes } from './exit-codes.ts';
import { note, watchOutput } from './output/print.ts';
import { styled } from './output/style.ts';
import { program } from './program.ts';
import { subcommands } from './subcommands.ts';

/**
 * Runs a subcommand whose arguments commander parses.
 *
 * @returns the exit code; errors are printed to stderr
 */
export async function runParsed(args: readonly string[]): Promise<number> {
  watchOutput();
  // A command sets it in the course of its action; the process of a caller has its own.
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    if (args[0] === '__complete') {
      const { complete } = await import('./completion/complete.ts');
      await complete(args.slice(1));
      return exitCodes.ok;
    }
    const words = withHelpOption(args);
    const [name] = words;
    const subcommand = name !== undefined && Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    const loaded = subcommand && 'load' in subcommand ? await subcommand.load() : undefined;
    await program(loaded).parseAsync(words, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    const { message, note: text, exitCode } = describeError(error);
    if (text !== undefined) note(text);
    if (message !== undefined) note(`${styled('red', 'error:', process.stderr)} ${message}`);
    return failureExitCode(args, exitCode);
  } finally {
    process.exitCode = before;
  }
}

/** Returns the arguments with `--help` for `actlog`, `actlog help` and `actlog help sessions list`. */
function withHelpOption(args: readonly string[]): string[] {
  const [name, ...rest] = args;
  if (name === undefined) return ['--help'];
  return name === 'help' ? [...rest, '--help'] : [...args];
}
