import { Command } from 'commander';
import { subcommands } from './subcommands.ts';
import { version } from './version.ts';

/**
 * Creates the command with its loaded subcommand. The other subcommands have only their descriptions.
 *
 * @param loaded - subcommand that is run; none for the help text
 */
export function program(loaded?: Command): Command {
  const root = new Command('actlog')
    .description('Records, guards and reads back what AI agents do with their tools.')
    .version(version)
    .showHelpAfterError('(actlog --help for a list of commands)')
    .exitOverride();
  for (const [name, { summary }] of Object.entries(subcommands)) {
    root.addCommand(loaded?.name() === name ? loaded : new Command(name).description(summary));
  }
  return root;
}
