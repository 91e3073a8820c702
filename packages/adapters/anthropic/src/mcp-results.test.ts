import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { type MCPClientLike, mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, toolUse } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const mcpClient: MCPClientLike = {
  callTool: async ({ arguments: args }) => {
    if (args?.path === 'slow') throw new Error('MCP error -32001: Request timed out');
    return mcpErrorResult(refusalOf(String(args?.path)));
  },
};

const read = { name: 'read', inputSchema: { type: 'object' as const } };
const paths = [...refusedPaths, 'slow'];
const statuses = [...refusedStatuses, 408];

test.each([true, false])('records errors of MCP servers; with wrapped tools: %s', async (isWrapped) => {
  const options = { recorder: service.recorder(), sessionId: `refused-${isWrapped}` };
  const tools = mcpTools([read], mcpClient);
  const { client } = clientOf(
    paths.map((path) => [toolUse('read', { path })]),
    { middleware: [actlog.middleware(options)] },
  );
  await client.beta.messages
    .toolRunner({
      model: 'scripted',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'go' }],
      tools: isWrapped ? actlog(tools, options) : tools,
    })
    .runUntilDone();
  expect((await service.events(options.sessionId)).map(({ status }) => status)).toEqual(statuses);
});
