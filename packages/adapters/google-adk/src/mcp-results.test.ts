import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { FunctionTool, LlmAgent } from '@google/adk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, runAgent } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

// The tools of `MCPToolset` return the results of their server as they are.
const read = new FunctionTool({
  name: 'read',
  description: 'Reads a file.',
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => mcpErrorResult(refusalOf(path)),
});

test('records error results of MCP servers', async () => {
  const calls = refusedPaths.map((path) => [{ name: 'read', args: { path } }]);
  const agent = new LlmAgent({ name: 'tester', model: modelOf(calls), tools: [read] });
  await runAgent(agent, { sessionId: 'refused', plugins: [actlog({ recorder: service.recorder() })] });
  expect((await service.events('refused')).map(({ status }) => status)).toEqual(refusedStatuses);
});
