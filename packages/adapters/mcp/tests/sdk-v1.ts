import type { Scenario, SuiteTool } from '@actlog/adapter-suite';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
// The oldest v1 only accepts schemas of zod 3.
import * as z from 'zod/v3';

export { Client, InMemoryTransport, McpServer };

/** Creates a server without tools. */
export function emptyServer(): McpServer {
  return new McpServer({ name: 'tools', version: '1.0.0' });
}

/** Registers the tools of a scenario. */
export function register(server: McpServer, tools: readonly SuiteTool[]): void {
  for (const { name, run } of tools) {
    server.registerTool(
      name,
      { description: `The tool ${name}.`, inputSchema: { text: z.string() } },
      async ({ text }, { signal }) => ({ content: [{ type: 'text', text: await run({ text }, signal) }] }),
    );
  }
}

/** Creates a client that is not connected. */
export function newClient(): Client {
  return new Client({ name: 'agent', version: '1.0.0' });
}

/** Connects both in this process, isolated as by a pipe. */
export async function connectInMemory(client: Client, server: McpServer, sessionId?: Scenario['sessionId']) {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  await client.connect(clientSide);
  // A transport that has a session before it connects counts as reconnecting.
  if (sessionId !== undefined) Object.assign(clientSide, { sessionId });
  if (sessionId !== undefined) Object.assign(serverSide, { sessionId });
}
