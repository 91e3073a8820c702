import { Command } from 'commander';
import { serverCommands } from '../command.ts';
import { version } from '../lib/version.ts';
import { addSessionDelete } from './administration-commands.ts';

/** Runs `actlog-server` with the arguments of this process. An error prints its message and sets the exit code 1. */
export async function runCommand(): Promise<void> {
  // A reader such as `head` may close the pipe after the lines it needs.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    await (await serverProgram()).parseAsync();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

async function serverProgram(): Promise<Command> {
  const program = new Command('actlog-server')
    .description(
      'The actlog service on an embedded database or on PostgreSQL: the same commands as in `actlog`.',
    )
    .version(version)
    .showHelpAfterError();
  for (const [name, load] of Object.entries(serverCommands)) {
    program.addCommand(await load(), { isDefault: name === 'serve' });
  }
  addSessionDelete(program.command('sessions').description('delete sessions'));
  return program;
}
