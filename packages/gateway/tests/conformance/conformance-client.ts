// The client that the conformance suite tests: by HTTP, or by stdio through the gateway in front of the suite's server.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { ListeningProcess } from '../connections.ts';
import { gatewayArgs } from '../gateway-program.ts';

const [connection, ...rest] = process.argv.slice(2);
const serverUrl = rest.at(-1) ?? '';
const gatewayOptions = [...gatewayArgs, ...rest.slice(0, -1), '--url', serverUrl];
const env = process.env as Record<string, string>;

const tools: Readonly<Record<string, { name: string; arguments: Record<string, unknown> }>> = {
  tools_call: { name: 'add_numbers', arguments: { a: 5, b: 3 } },
  'elicitation-sep1034-client-defaults': { name: 'test_client_elicitation_defaults', arguments: {} },
  'sse-retry': { name: 'test_reconnection', arguments: {} },
};

const capabilities = { elicitation: { form: { applyDefaults: true } } };
const client = new Client({ name: 'conformance-client', version: '1.0.0' }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));

const listening =
  connection === 'http-gateway'
    ? new ListeningProcess([process.execPath, ...gatewayOptions, '--listen', '0'], env)
    : undefined;
const transport =
  connection === 'stdio-gateway'
    ? new StdioClientTransport({ command: process.execPath, args: gatewayOptions, env })
    : new StreamableHTTPClientTransport((await listening?.url) ?? new URL(serverUrl));
// The SDK's types differ under exactOptionalPropertyTypes.
await client.connect(transport as Transport);
await client.listTools();
const tool = tools[env.MCP_CONFORMANCE_SCENARIO ?? ''];
if (tool) await client.callTool(tool);
await client.close();
await listening?.end();
