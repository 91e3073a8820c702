import { Service } from '@actlog/adapter-suite';
import {
  Agent,
  McpClient,
  Tool,
  type ToolContext,
  ToolResultBlock,
  ToolStreamEvent,
  type ToolStreamGenerator,
  tool,
} from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('records manual calls and passes on their errors', async () => {
  const { echo, fail } = tools();
  const [wrapped, failing] = actlog.tools([echo, fail], {
    recorder: service.recorder(),
    sessionId: 'by-hand',
  });
  expect(wrapped).toBeInstanceOf(Tool);
  expect(await wrapped.invoke({ text: 'hi' })).toBe('echo: hi');
  await expect(failing.invoke({})).rejects.toThrow('it broke');
  expect(await service.events('by-hand')).toMatchObject([
    { toolName: 'echo', status: 200 },
    { toolName: 'fail', status: 502 },
  ]);
});

test('records manual calls of a twice-wrapped tool once each, including recursive ones', async () => {
  const options = { recorder: service.recorder(), sessionId: 'twice-by-hand' };
  const countdown = tool({
    name: 'countdown',
    description: 'Counts down.',
    inputSchema: z.object({ from: z.number() }),
    callback: async ({ from }): Promise<string> =>
      from === 0 ? 'go' : String(await wrapped.invoke({ from: from - 1 })),
  });
  const [wrapped] = actlog.tools(actlog.tools([countdown], options), options);
  expect(await wrapped.invoke({ from: 0 })).toBe('go');
  expect(await service.events('twice-by-hand')).toHaveLength(1);
  expect(await wrapped.invoke({ from: 1 })).toBe('go');
  expect(await service.events('twice-by-hand')).toHaveLength(3);
});

test('throws for a denied manual call without running the tool', async () => {
  const { id } = await service.client.policies.create({
    name: 'no echo',
    effect: 'deny',
    match: { tools: ['echo'] },
    message: 'Echoing is not for today.',
  });
  const { echo, ran } = tools();
  const [wrapped] = actlog.tools([echo], { recorder: service.guarded(), sessionId: 'denied-by-hand' });
  await expect(wrapped.invoke({ text: 'x' })).rejects.toThrow('Echoing is not for today.');
  expect(ran).toEqual([]);
  expect(await service.events('denied-by-hand')).toMatchObject([{ status: 403 }]);
  await service.client.policies.archive(id);
});

test('ends a tool whose stream is closed early, and records it as aborted', async () => {
  const heard: string[] = [];
  class Steps extends Tool {
    override name = 'steps';
    override description = 'Goes step by step.';
    override toolSpec = { name: this.name, description: this.description };
    override async *stream({ toolUse }: ToolContext): ToolStreamGenerator {
      try {
        yield new ToolStreamEvent({ data: 'one' });
        return new ToolResultBlock({ toolUseId: toolUse.toolUseId, status: 'success', content: [] });
      } finally {
        heard.push('ended');
      }
    }
  }
  const [wrapped] = actlog.tools([new Steps()], { recorder: service.recorder(), sessionId: 'left' });
  const agent = new Agent({ model: modelOf([]), tools: [wrapped], printer: false });
  const context = { toolUse: { name: 'steps', toolUseId: '1', input: {} }, agent };
  for await (const _ of wrapped.stream(context as unknown as ToolContext)) break;
  expect(heard).toEqual(['ended']);
  expect(await service.events('left')).toMatchObject([{ toolName: 'steps', status: 499 }]);
});

test('returns agents, MCP clients and excluded tools unchanged', () => {
  const { echo, fail } = tools();
  const agent = new Agent({ model: modelOf([]), printer: false });
  const url = new URL('http://127.0.0.1:9/mcp');
  const mcp = new McpClient({ transport: { url } as never });
  const options = { recorder: service.recorder(), include: ['fail'] };
  const [same, other, sameAgent, sameMcp, [nested]] = actlog.tools([echo, fail, agent, mcp, [echo]], options);
  expect(same).toBe(echo);
  expect(other).not.toBe(fail);
  expect(sameAgent).toBe(agent);
  expect(sameMcp).toBe(mcp);
  expect(nested).toBe(echo);
});
