import { refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Error of `@langchain/mcp-adapters` for an error result of a server, and for an error of the client. */
class ToolException extends Error {
  override readonly name = 'ToolException';
}

const read = tool(
  ({ path }): string => {
    if (path === 'slow') {
      throw new ToolException('Error calling tool read: McpError: MCP error -32001: Request timed out');
    }
    throw new ToolException(`MCP tool 'read' on server 'files' returned an error: ${refusalOf(path)}`);
  },
  { name: 'read', description: 'Reads a file.', schema: z.object({ path: z.string() }) },
);

test('records errors of MCP servers', async () => {
  const calls = [...refusedPaths, 'slow'].map((path) => [{ name: 'read', args: { path } }]);
  const middleware = [actlog({ recorder: service.recorder() })];
  await createAgent({ model: modelOf(calls), tools: [read], middleware }).invoke(question, inThread('mcp'));
  expect((await service.events('mcp')).map(({ status }) => status)).toEqual([...refusedStatuses, 408]);
});
