import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { createTool } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inThread } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const timeout = Object.assign(new Error('Request timed out'), { code: 'REQUEST_TIMEOUT' });

test.each(['return', 'throw'])('records errors of MCP servers: %s', async (onToolError) => {
  const read = createTool({
    id: 'read',
    description: 'Reads a file.',
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => {
      if (path === 'slow') throw timeout;
      if (onToolError === 'throw') throw new Error(refusalOf(path));
      return mcpErrorResult(refusalOf(path));
    },
  });
  const turns = [...refusedPaths, 'slow'].map((path) => [{ name: 'read', args: { path } }]);
  const hooks = actlog({ recorder: service.recorder() });
  const { agent } = agentOf({ turns, tools: { read }, hooks });
  await agent.generate('go', inThread(onToolError));
  const statuses = (await service.events(onToolError)).map(({ status }) => status);
  expect(statuses).toEqual([...refusedStatuses, 408]);
});
