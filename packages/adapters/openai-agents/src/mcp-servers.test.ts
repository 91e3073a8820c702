import { Service } from '@actlog/adapter-suite';
import { Agent, type MCPServer, MemorySession, run } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, toolAnswers } from '../tests/agent.ts';
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
  const { id } = await policies.create({ name: 'no', effect: 'deny', match: { tools: ['remove'] } });
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
  expect(toolAnswers(result.newItems)[2]).toContain('The call of the tool "remove" was not run');
  const events = (await service.events('mcp')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['read 200', 'read 500', 'remove 403']);
});
