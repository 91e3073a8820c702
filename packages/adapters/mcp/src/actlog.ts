import type { AdapterOptions } from '@actlog/recorder/adapter';
import { type McpClient, recordClient } from './client.ts';
import { type McpServer, type ProtocolServer, recordServer } from './server.ts';

/**
 * Records every tool call of an MCP client, or every tool call that an MCP server answers, and guards it where the
 * recorder's guard says so:
 *
 * ```ts
 * const client = actlog(new Client({ name: 'my-agent', version: '1.0.0' }));
 * const server = actlog(new McpServer({ name: 'my-tools', version: '1.0.0' }));
 * ```
 *
 * The very object that it is given is changed and returned, before or after tools are registered and transports
 * connected. Once more on the same object changes nothing, unless it names another recorder or another guard: then
 * both hold.
 *
 * @param target - a `Client` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/client`; or an `McpServer` or
 * `Server` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/server`
 * @throws TypeError when the target is none of these
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export function actlog<Target extends McpClient | McpServer | ProtocolServer>(
  target: Target,
  options: AdapterOptions = {},
): Target {
  if ('callTool' in target) recordClient(target, options);
  else recordServer(target, options);
  return target;
}
