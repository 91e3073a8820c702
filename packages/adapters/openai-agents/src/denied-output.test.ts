import { Service } from '@actlog/adapter-suite';
import { Agent, type AgentOptions, MemorySession, run, type ToolToFinalOutputFunction } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
});
afterAll(() => service.close());

const outputType = z.object({ city: z.string() });
const oslo = JSON.stringify({ city: 'Oslo' });

/** Runs an agent with a typed output, with one tool that returns that output and one that is denied. */
async function runTyped(
  sessionId: string,
  toolUseBehavior: NonNullable<AgentOptions['toolUseBehavior']>,
  calls: readonly string[],
  isStreamed = false,
) {
  const { echo, fail } = tools();
  const find = { ...echo, name: 'echo', invoke: async () => oslo };
  const model = new ScriptedModel([
    calls.map((name, place) =>
      functionCall(name, name === 'echo' ? { text: 'x' } : {}, { callId: `0-${place}` }),
    ),
    [assistantMessage(JSON.stringify({ city: 'none' }))],
  ]);
  const agent = new Agent({ name: 'typed', model, tools: [find, fail], outputType, toolUseBehavior });
  actlog(agent, { recorder: service.guarded() });
  const options = { session: new MemorySession({ sessionId }) };
  if (!isStreamed) return run(agent, 'go', options);
  const result = await run(agent, 'go', { ...options, stream: true });
  await result.completed;
  return result;
}

const takeLast: ToolToFinalOutputFunction = async (_context, results) => ({
  isFinalOutput: true,
  isInterrupted: undefined,
  finalOutput: String((results.at(-1) as { output?: unknown }).output),
});

test.each([
  ['stopAtToolNames', { stopAtToolNames: ['fail'] }],
  ['stop_on_first_tool', 'stop_on_first_tool'],
  ['a function', takeLast],
] as const)('a denial is not taken for a typed output with %s: the model goes on', async (name, behavior) => {
  for (const isStreamed of [false, true]) {
    const sessionId = `denied-${name}-${isStreamed}`;
    const result = await runTyped(sessionId, behavior as never, ['fail'], isStreamed);
    expect(result.finalOutput).toEqual({ city: 'none' });
    expect(toolResultsOf(result.newItems)[0]).toContain('The call of the tool "fail" was not run');
    expect(await service.events(sessionId)).toMatchObject([{ toolName: 'fail', status: 403 }]);
  }
});

test('uses the output of a tool next to a denied one', async () => {
  const both = ['fail', 'echo'];
  const atEither = { stopAtToolNames: ['fail', 'echo'] };
  expect((await runTyped('beside', atEither, both)).finalOutput).toEqual({ city: 'Oslo' });
  expect((await runTyped('beside-first', 'stop_on_first_tool', ['echo', 'fail'])).finalOutput).toEqual({
    city: 'Oslo',
  });
  expect((await runTyped('beside-fn', takeLast, both)).finalOutput).toEqual({ city: 'Oslo' });
});
