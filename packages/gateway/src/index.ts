/**
 * Records, guards and holds the tool calls of any MCP client, in front of any MCP server.
 *
 * @packageDocumentation
 */
export { version } from './version.ts';
