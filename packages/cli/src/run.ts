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
  // A subcommand that runs once for each tool call does without commander.
  if (subcommand && 'start' in subcommand) return subcommand.start(args.slice(1));
  const { runParsed } = await import('./run-parsed.ts');
  return runParsed(args);
}
