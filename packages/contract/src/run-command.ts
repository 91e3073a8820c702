import { CommanderError } from 'commander';
import { exitCodes } from './command.ts';
import { conformanceCommand } from './conformance-command.ts';
import { version } from './version.ts';

/** Runs `actlog-contract` with the arguments of this process, and sets its exit code. Errors print their message. */
export async function runCommand(): Promise<void> {
  try {
    await conformanceCommand('actlog-contract').version(version).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.USAGE;
    else {
      process.stderr.write(`${(error as Error).message}\n`);
      process.exitCode = exitCodes.USAGE;
    }
  }
}
