/**
 * Records, guards and holds the tool calls of any MCP client, in front of any MCP server.
 *
 * @packageDocumentation
 */
export { GatewayCalls, type GatewayCallsOptions } from './calls/gateway-calls.ts';
export { gatewayCommand } from './command/gateway-command.ts';
export { Relay, type RelayEnds, type RelayOptions } from './relay/relay.ts';
export {
  type ChangedToolDecision,
  ServerTools,
  type ServerToolsOptions,
} from './tools/server-tools.ts';
export { version } from './version.ts';
