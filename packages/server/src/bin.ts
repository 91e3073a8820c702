#!/usr/bin/env node
import { Command } from 'commander';
import { administrationCommands } from './cli/administer.ts';
import { collectSettings, settingOptions } from './cli/settings.ts';
import { version } from './version.ts';

const program = new Command('actlog-server')
  .description('The actlog service on an embedded database or on PostgreSQL.')
  .version(version)
  .showHelpAfterError();

const start = program
  .command('start', { isDefault: true })
  .description('start the server and print its address and a test key')
  .option('--config <file>', 'JSON file with settings; flags and environment variables come first')
  .action(async (flags: Record<string, string | undefined>) => {
    const defaults = { port: 8787, database: 'actlog.db', logLevel: 'info' } as const;
    // The commands beside it do without what it takes to serve, and are there twice as fast.
    const { serve } = await import('./cli/serve.ts');
    await serve(collectSettings(flags, process.env, flags.config, defaults));
  });
for (const option of settingOptions()) start.addOption(option);
for (const command of administrationCommands()) program.addCommand(command);

// Who reads the first lines only, as `head` does, has what was wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
