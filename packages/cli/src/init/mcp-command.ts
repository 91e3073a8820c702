import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { print } from '../output/print.ts';

/** Adds `actlog init mcp`, which explains the gateway: it changes nothing by itself. */
export function addMcpCommand(parent: Command): Command {
  const command = parent
    .command('mcp')
    .description('explain how to record the MCP servers of a client, such as Claude Desktop')
    .action(() => explainGateway());
  return addExamples(command, ['actlog init mcp']);
}

async function explainGateway(): Promise<void> {
  const unset = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
  const lines = [
    'The gateway stands between an MCP client and its servers. It records each tool call, and checks and',
    'holds it where you ask for that. Neither the client nor the server changes.',
    '',
    ...(unset.length > 0 ? [`Set ${unset.join(' and ')} first: the gateway gets them from here.`, ''] : []),
    'Put it in front of all servers of a client, and take it out again:',
    '  actlog gateway --wrap claude-desktop      or cursor, vscode, or the path of a configuration file',
    '  actlog gateway --unwrap claude-desktop',
    '',
    'Or in front of one server, in the place of its command:',
    '  actlog gateway -- npx -y @modelcontextprotocol/server-filesystem /data',
    '  actlog gateway --url https://mcp.example.com/mcp',
    '',
    'Options: actlog gateway --help. The guide: https://github.com/actlog/actlog/blob/main/docs/gateway.md',
  ];
  for (const line of lines) await print(line);
}
