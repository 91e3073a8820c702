import { Command } from 'commander';
import { collectSettings, secretsHelp, settingOptions } from './settings.ts';

/** Returns the command `serve`, which starts the server. */
export function serveCommand(): Command {
  const serve = new Command('serve')
    .description('start the server and print its address and a test key')
    .option('--config <file>', 'JSON file with settings; flags and environment variables come first')
    .action(async (flags: Record<string, string | undefined>) => {
      const defaults = { port: 8787, database: 'actlog.db', logLevel: 'info' } as const;
      // Imported here, because help starts twice as fast without the server.
      const { runServer } = await import('./run-server.ts');
      await runServer(collectSettings(flags, process.env, flags.config, defaults));
    });
  for (const option of settingOptions()) serve.addOption(option);
  return serve.addHelpText('after', secretsHelp());
}
