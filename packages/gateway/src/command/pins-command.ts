import { Command } from 'commander';

/** Creates the command `actlog gateway pins`. */
export function pinsCommand(): Command {
  const pins = new Command('pins')
    .description('Show the pinned definitions of tools, and what has changed since.')
    .argument('[server]', 'id of a server, or the path of its file (default: all servers)')
    .option('--definitions', 'show the pinned definitions, too')
    .exitOverride()
    .action(async (server: string | undefined, { definitions }: { readonly definitions?: true }) => {
      const { showPins } = await import('./show-pins.ts');
      process.stdout.write(showPins(server, definitions === true));
    });
  pins
    .command('accept')
    .description('Accept changed and new definitions: from then on, their tools can be called.')
    .argument('<server>', 'id of a server, or the path of its file')
    .argument('[tools...]', 'names of the tools, as "actlog gateway pins" shows them')
    .option('--all', 'all changed and new tools of the server')
    .exitOverride()
    .action(async (server: string, tools: string[], { all }: { readonly all?: true }, self: Command) => {
      if ((tools.length === 0) !== (all === true)) {
        self.error('error: Name the tools to accept after the server, or pass --all.');
      }
      const { acceptPins } = await import('./show-pins.ts');
      process.stdout.write(acceptPins(server, all ? undefined : tools));
    });
  return pins;
}
