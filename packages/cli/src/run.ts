import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { program } from './program.ts';
import { subcommands } from './subcommands.ts';

/**
 * Runs the command `actlog`.
 *
 * @param args - arguments after the name of the command
 * @returns the exit code; nothing is thrown, and errors are printed to stderr
 */
export async function run(args: readonly string[]): Promise<number> {
  const [name] = args;
  const subcommand = name !== undefined && Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (subcommand && 'start' in subcommand) return subcommand.start(args.slice(1));
  try {
    const command = program(await subcommand?.load());
    await command.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    process.stderr.write(`${(error as Error).message}\n`);
    return exitCodes.failed;
  }
}
