import { Command } from 'commander';
import { commandGroups, groupOf } from './command-groups.ts';
import { exitCodesHelp } from './exit-codes.ts';
import { helpConfiguration } from './help-configuration.ts';
import { printableLines } from './output/printable.ts';
import type { Subcommand } from './subcommand.ts';
import { subcommands } from './subcommands.ts';
import { version } from './version.ts';

const environmentHelp = `
Environment:
  ACTLOG_BASE_URL  address of the service, such as http://127.0.0.1:8787
  ACTLOG_API_KEY   API key; it has no flag, because lists of processes show flags
  NO_COLOR         set to any value for output without colors`;

const examplesHelp = `
Examples:
  # a server with its console, on this machine
  $ actlog serve
  # what agents did in the last day
  $ actlog sessions list --since 24h
  # approve or deny held actions in the terminal
  $ actlog guardian watch`;

/**
 * Creates the command with its loaded subcommand. The other subcommands have only their descriptions.
 *
 * @param loaded - subcommand that is run; none for the help text
 */
export function program(loaded?: Command): Command {
  const root = new Command('actlog')
    .description('Records, guards and reads back what AI agents do with their tools.')
    .version(version)
    .usage('<command> [options]')
    .showHelpAfterError('(see --help for usage and examples)')
    .exitOverride()
    .helpCommand(false)
    .configureHelp(helpConfiguration)
    // An argument may hold an escape sequence, such as an id that was copied.
    .configureOutput({ outputError: (text, write) => write(printableLines(text)) })
    .addHelpText('after', [environmentHelp, exitCodesHelp, examplesHelp].join('\n'));
  for (const [name, { summary }] of ordered()) {
    const command = loaded?.name() === name ? loaded : new Command(name);
    root.addCommand(command.summary(summary).helpGroup(groupOf(name)));
  }
  if (loaded) inheritSettings(root, loaded);
  return root;
}

/** Returns the subcommands in the order of the groups. */
function ordered(): [string, Subcommand][] {
  const names = Object.values(commandGroups).flat();
  const placeOf = (name: string) => (names.includes(name) ? names.indexOf(name) : names.length);
  return Object.entries(subcommands).sort(([left], [right]) => placeOf(left) - placeOf(right));
}

/** Gives a command that another package created, and all commands in it, the settings of the root. */
function inheritSettings(root: Command, command: Command): void {
  // `actlog help sessions list` shows the help of any command.
  command.copyInheritedSettings(root).helpCommand(false);
  for (const inner of command.commands) inheritSettings(root, inner);
}
