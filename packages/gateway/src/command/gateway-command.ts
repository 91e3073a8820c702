import { showArgumentsOf } from '@actlog/recorder/short-lived';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { GatewayFlags } from './gateway-flags.ts';

const examples = `
Examples:
  actlog gateway -- npx -y @modelcontextprotocol/server-filesystem /data
  actlog gateway --guard enforce --on-unavailable deny -- uvx mcp-server-git
  actlog gateway --url https://mcp.example.com/mcp
  actlog gateway --guard enforce --on-unavailable deny --show-arguments=path -- uvx mcp-server-git
  actlog gateway --listen 8811 --url https://mcp.example.com/mcp
  actlog gateway --wrap claude-desktop
  actlog gateway --unwrap claude-desktop
  actlog gateway pins

Environment: ACTLOG_BASE_URL and ACTLOG_API_KEY, and the variables of the recorder, such as ACTLOG_GUARD.`;

/** Creates the command `actlog gateway`. */
export function gatewayCommand(): Command {
  return new Command('gateway')
    .description('Record, guard and hold the tool calls of an MCP client, in front of an MCP server.')
    .argument('[command...]', 'command of an MCP server that is connected by stdio, after --')
    .option('--url <url>', 'address of an MCP server that is connected by Streamable HTTP')
    .option('--header <header...>', 'header for --url, such as "Authorization: Bearer …"')
    .option('--listen <port>', 'listen for clients by Streamable HTTP instead of stdio', parsePort)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--authorize <file>', 'JSON file with the issuers whose access tokens clients of --listen need')
    .option('--agent <id>', 'agent of the calls (default: the name of the client)')
    .addOption(new Option('--guard <mode>', 'guard of the calls').choices(['off', 'observe', 'enforce']))
    .addOption(
      new Option('--on-unavailable <decision>', 'decision while the service is unreachable').choices([
        'allow',
        'deny',
      ]),
    )
    .option('--hold-seconds <seconds>', 'maximum wait for an approval', parseSeconds)
    .option('--tool-prefix <text>', 'text in front of tool names in events and policies, such as files.')
    .option(
      '--show-arguments [paths]',
      'arguments for the approver and conditions: all, or =PATH,… such as =path,user.name',
      parsePaths,
    )
    .addOption(
      new Option(
        '--on-changed-tool <decision>',
        'calls of tools whose definition is new or has changed (default: hold if the guard enforces, else allow)',
      ).choices(['hold', 'deny', 'allow']),
    )
    .option('--pin <file>', 'file with the pinned definitions of tools (default: one of the server)')
    .addOption(
      new Option(
        '--denied-tools <mode>',
        'tools that policies always deny: list them, hide them, or keep-hidden while the service is unreachable (default: hide if the guard enforces, else list)',
      ).choices(['list', 'hide', 'keep-hidden']),
    )
    .option('--announce', 'announce calls to a server that records with actlog itself')
    .option('--wrap <file>', 'put the gateway into a configuration: claude-desktop, cursor, vscode or a file')
    .option('--unwrap <file>', 'take the gateway out of a configuration')
    .option('--server <name>', 'only this server of the configuration')
    .option('--print', 'print the configuration instead of writing it')
    .addHelpText('after', examples)
    .addCommand(pinsCommand())
    .exitOverride()
    .action(async (command: string[], _options: unknown, self: Command) => {
      const flags = self.opts<GatewayFlags>();
      const { runFlags } = await import('./run-flags.ts');
      process.exitCode = await runFlags(command, flags, (message) => self.error(`error: ${message}`));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port from 0 to 65535; 0 takes a free one.');
}

function parsePaths(text: string): string {
  try {
    showArgumentsOf(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text)) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, such as 120; 0 does not wait.');
}

/** Creates the command `actlog gateway pins`. */
function pinsCommand(): Command {
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
