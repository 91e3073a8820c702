import { type AdapterOptions, refuseOptions, type WithoutOptions } from '@actlog/recorder/adapter';
import { type McpClient, recordClient } from './client.ts';
import { type FastMcpServer, isFastMcp, recordFastMcp } from './fastmcp.ts';
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
 * A call that a client and a server record in the same service is one event and one action there, if both have the same
 * API key or the same `hashKey`: the client announces it in `_meta` of the request.
 *
 * @param target - a `Client` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/client`; an `McpServer` or
 * `Server` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/server`; or a `FastMCP` of `fastmcp` that has not
 * started
 * @throws TypeError when the target is none of these
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Target extends McpClient | McpServer | ProtocolServer | FastMcpServer>(
  target: Target & WithoutOptions,
  options: AdapterOptions = {},
): Target {
  refuseOptions(target, 'actlog(client, { guard })');
  if ('callTool' in target) recordClient(target, options);
  else if (isFastMcp(target)) recordFastMcp(target, options);
  else recordServer(target, options);
  return target;
}
