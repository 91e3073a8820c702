import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { generateText, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('records error results of MCP servers, which `@ai-sdk/mcp` returns as they are', async () => {
  const read = tool({
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => mcpErrorResult(refusalOf(path)),
  });
  const tools = actlog({ read }, { recorder: service.recorder(), sessionId: 'refused' });
  for (const path of refusedPaths) {
    await generateText({ model: modelOf([[callOf('read', { path })]]), prompt: 'go', tools });
  }
  expect((await service.events('refused')).map(({ status }) => status)).toEqual(refusedStatuses);
});
