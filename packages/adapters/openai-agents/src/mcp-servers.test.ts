import { fileURLToPath } from 'node:url';
import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { Agent, getAllMcpTools, type MCPServer, MCPServerStdio, MemorySession, run } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, toolResultsOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

/** Creates an MCP server of the user with the SDK's interface. */
function files(): { server: MCPServer; called: string[] } {
  const called: string[] = [];
  const inputSchema = {
    type: 'object' as const,
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  };
  const server: MCPServer = {
    name: 'files',
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => ['read', 'remove'].map((name) => ({ name, description: name, inputSchema })),
    callTool: async (name, args) => {
      called.push(`${name} ${args?.path}`);
      if (args?.path === 'missing') throw new Error('no such file');
      return [{ type: 'text', text: `${name} done` }];
    },
  };
  return { server, called };
}

test('records and guards tools of MCP servers, and keeps their lists up to date', async () => {
  const { policies } = service.client;
  const { id } = await service.denyTool('remove');
  const { server, called } = files();
  const agent = new Agent({
    name: 'clerk',
    model: modelOf([
      [{ name: 'read', args: { path: 'a' } }],
      [
        { name: 'read', args: { path: 'missing' } },
        { name: 'remove', args: { path: 'b' } },
      ],
    ]),
    mcpServers: [server],
  });
  actlog(agent, { recorder: service.guarded() });
  const result = await run(agent, 'go', inSession('mcp'));
  await policies.archive(id);
  expect(called).toEqual(['read a', 'read missing']);
  expect(toolResultsOf(result.newItems)[2]).toContain('The call of the tool "remove" was not run');
  const events = (await service.events('mcp')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['read 200', 'read 500', 'remove 403']);
});

/** Creates a server like those of the SDK, which add the rest of a result to its blocks. */
function refusingServer(more: Partial<MCPServer>): MCPServer {
  const inputSchema = {
    type: 'object' as const,
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  };
  const resultFor = (path: unknown) => {
    if (path === 'slow') throw Object.assign(new Error('Request timed out'), { code: 'REQUEST_TIMEOUT' });
    const { isError, content } = mcpErrorResult(refusalOf(String(path)));
    return path === 'fine' ? { content } : { isError, content: Object.assign(content, { isError }) };
  };
  return {
    ...files().server,
    listTools: async () => [{ name: 'read', description: 'Reads a file.', inputSchema }],
    callTool: async (_name, args) => resultFor(args?.path).content,
    callToolResult: async (_name, args) => resultFor(args?.path),
    ...more,
  };
}

test.each([{}, { useStructuredContent: true }])('records errors of an MCP server with %o', async (more) => {
  const sessionId = `refused-${JSON.stringify(more)}`;
  const calls = [...refusedPaths, 'slow', 'fine'].map((path) => ({ name: 'read', args: { path } }));
  const agent = new Agent({ name: 'clerk', model: modelOf([calls]), mcpServers: [refusingServer(more)] });
  actlog(agent, { recorder: service.recorder() });
  await run(agent, 'go', inSession(sessionId));
  const statuses = (await service.events(sessionId)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([...refusedStatuses, 408, 200].sort());
});

test('records an error of an MCP server whose tools the agent has instead of the server', async () => {
  const server = new MCPServerStdio({
    name: 'files',
    command: process.execPath,
    args: [fileURLToPath(new URL('../tests/mcp-server.ts', import.meta.url))],
  });
  await server.connect();
  try {
    const agent = new Agent({
      name: 'clerk',
      model: modelOf([[{ name: 'read', args: { path: '/etc/passwd' } }]]),
      tools: await getAllMcpTools([server]),
    });
    actlog(agent, { recorder: service.recorder() });
    await run(agent, 'go', inSession('listed-before'));
  } finally {
    await server.close();
  }
  expect(await service.events('listed-before')).toMatchObject([{ toolName: 'read', status: 500 }]);
});
