import { Command } from 'commander';
import { version } from '../version.ts';
import { administrationCommands } from './administer.ts';
import { collectSettings, secretsHelp, settingOptions } from './settings.ts';

/** Runs `actlog-server` with the arguments of this process. An error prints its message and sets the exit code 1. */
export async function runCommand(): Promise<void> {
  // A reader such as `head` may close the pipe after the lines it needs.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    await serverCommand().parseAsync();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

function serverCommand(): Command {
  const program = new Command('actlog-server')
    .description('The actlog service on an embedded database or on PostgreSQL.')
    .version(version)
    .showHelpAfterError();
  program.addCommand(startCommand(), { isDefault: true });
  for (const command of administrationCommands()) program.addCommand(command);
  return program;
}

function startCommand(): Command {
  const start = new Command('start')
    .description('start the server and print its address and a test key')
    .option('--config <file>', 'JSON file with settings; flags and environment variables come first')
    .action(async (flags: Record<string, string | undefined>) => {
      const defaults = { port: 8787, database: 'actlog.db', logLevel: 'info' } as const;
      // Imported here, because the other commands start twice as fast without the server.
      const { serve } = await import('./serve.ts');
      await serve(collectSettings(flags, process.env, flags.config, defaults));
    });
  for (const option of settingOptions()) start.addOption(option);
  return start.addHelpText('after', secretsHelp());
}
