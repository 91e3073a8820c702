import type { AdapterOptions } from '@actlog/recorder/adapter';
import { type McpClient, recordClient } from './client.ts';
import { type McpServer, type ProtocolServer, recordServer } from './server.ts';

/**
 * Records every tool call of an MCP client or server, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const client = actlog(new Client({ name: 'my-agent', version: '1.0.0' }));
 * const server = actlog(new McpServer({ name: 'my-tools', version: '1.0.0' }));
 * ```
 *
 * Modifies and returns the given object, before or after tools are registered and transports connected. A second call
 * for the same object has no effect, unless it has another recorder or guard: then both apply.
 *
 * @param target - a `Client` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/client`; or an `McpServer` or
 * `Server` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/server`
 * @throws TypeError when the target is none of these
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Target extends McpClient | McpServer | ProtocolServer>(
  target: Target,
  options: AdapterOptions = {},
): Target {
  if ('callTool' in target) recordClient(target, options);
  else recordServer(target, options);
  return target;
}
