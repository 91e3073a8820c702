import { refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { Agent, TextBlock, Tool, type ToolContext, ToolResultBlock } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** A tool like those of `McpClient`, which returns the error results of its server as blocks without an error. */
class ReadTool extends Tool {
  readonly name = 'read';
  readonly description = 'Reads a file.';
  readonly toolSpec = {
    name: 'read',
    description: 'Reads a file.',
    inputSchema: { type: 'object' as const },
  };

  // biome-ignore lint/correctness/useYield: it has no progress to report
  async *stream({ toolUse }: ToolContext): AsyncGenerator<never, ToolResultBlock> {
    const { path } = toolUse.input as { path: string };
    const content = [new TextBlock(refusalOf(path))];
    return new ToolResultBlock({ toolUseId: toolUse.toolUseId, status: 'error', content });
  }
}

test('records error results of MCP servers', async () => {
  const agent = new Agent({
    model: modelOf(refusedPaths.map((path) => [{ name: 'read', args: { path } }])),
    tools: [new ReadTool()],
    interventions: [actlog({ recorder: service.recorder(), sessionId: 'refused' })],
    printer: false,
  });
  await agent.invoke('go');
  expect((await service.events('refused')).map(({ status }) => status)).toEqual(refusedStatuses);
});
