import { v1InMemory, v1OverHttp, v2InMemory, v2OverHttp } from './connections.ts';
import { mcpHarness } from './mcp-harness.ts';

/** Clients of v2. */
export const mcpClientHarness = mcpHarness('client', v2InMemory);

/** Servers of v2. */
export const mcpServerHarness = mcpHarness('server', v2InMemory);

/** The same on v1, and over HTTP. */
export const otherMcpHarnesses = {
  'MCP client of v1': mcpHarness('client', v1InMemory),
  'MCP server of v1': mcpHarness('server', v1InMemory),
  'MCP server of v1 over HTTP': mcpHarness('server', v1OverHttp),
  'MCP server of v2 over HTTP': mcpHarness('server', v2OverHttp),
};
