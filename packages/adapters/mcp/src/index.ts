/**
 * One line that records and guards every tool call of an MCP client or server.
 *
 * @packageDocumentation
 */

export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
export type { McpClient } from './client.ts';
export type { FastMcpServer } from './fastmcp.ts';
export type { McpServer, ProtocolServer } from './server.ts';
