import type { Scenario, SuiteTool } from '@actlog/adapter-suite';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

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
      { description: `The tool ${name}.`, inputSchema: z.object({ text: z.string() }) },
      async ({ text }, { mcpReq }) => ({
        content: [{ type: 'text', text: await run({ text }, mcpReq.signal) }],
      }),
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
