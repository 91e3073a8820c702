import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import {
  Agent,
  getGlobalTraceProvider,
  MemorySession,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Runs an agent with one tool, which its model calls once. */
async function runWith(
  own: Agent['tools'],
  sessionId: string,
  { args = {}, runner = new Runner() }: { args?: Record<string, unknown> | string; runner?: Runner } = {},
) {
  const model = modelOf([[{ name: own[0]?.name ?? 'nowhere', args }]]);
  const agent = actlog(new Agent({ name: 'a', model, tools: own }), { recorder: service.guarded() });
  const { newItems } = await runner.run(agent, 'go', { session: new MemorySession({ sessionId }) });
  return toolResultsOf(newItems);
}

/** A tool that waits until it is aborted. */
const slow = {
  name: 'slow',
  description: 'Takes its time.',
  parameters: z.object({}),
  timeoutMs: 5,
  execute: (_args: unknown, _context: unknown, details?: { signal?: AbortSignal }) =>
    new Promise<string>((resolve) => details?.signal?.addEventListener('abort', () => resolve('late'))),
};

test('records a tool timeout as 408, whatever its message', async () => {
  expect(await runWith([tool(slow)], 'slow')).toEqual(["Tool 'slow' timed out after 5ms."]);
  const worded = tool({ ...slow, timeoutErrorFunction: () => 'it is late' });
  expect(await runWith([worded], 'slow')).toEqual(['it is late']);
  const thrown = tool({ ...slow, timeoutBehavior: 'raise_exception' });
  await expect(runWith([thrown], 'slow')).rejects.toThrow('timed out');
  expect((await service.events('slow')).map(({ status }) => status)).toEqual([408, 408, 408]);
});

test("does not count a hold toward the tool's timeout", async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['quick'] },
  });
  const quick = tool({
    name: 'quick',
    description: 'Is fast.',
    parameters: z.object({}),
    timeoutMs: 1,
    execute: () => 'fast',
  });
  const results = runWith([quick], 'quick');
  await service.decide('quick', 'approve');
  expect(await results).toEqual(['fast']);
  await policies.archive(id);
});

test("does not treat a report of another failure as the function's own", async () => {
  const job = tool({
    name: 'job',
    description: 'Tells how a job went.',
    parameters: z.object({}),
    execute: () => ({ status: 'failed', output: [{ outcome: { type: 'timeout' } }] }),
  });
  await runWith([job], 'job');
  expect(await service.events('job')).toMatchObject([{ toolName: 'job', status: 200 }]);
});

test("ends the run with a tool's error as without the adapter", async () => {
  const passing = tool({
    name: 'passing',
    description: 'Breaks.',
    parameters: z.object({}),
    errorFunction: null,
    execute: () => {
      throw new Error('it broke');
    },
  });
  await expect(runWith([passing], 'passing')).rejects.toThrow('it broke');
  expect(await service.events('passing')).toMatchObject([{ toolName: 'passing', status: 500 }]);
});

test('recognizes an error with a custom message if the SDK traces', async () => {
  const worded = tool({
    name: 'worded',
    description: 'Breaks.',
    parameters: z.object({}),
    errorFunction: () => 'sorry',
    execute: () => {
      throw new Error('it broke');
    },
  });
  setTraceProcessors([]);
  setTracingDisabled(false);
  const results = await runWith([worded], 'worded');
  setTracingDisabled(true);
  expect(results).toEqual(['sorry']);
  expect(await service.events('worded')).toMatchObject([{ status: 500 }]);
  expect(getGlobalTraceProvider().getCurrentTrace()).toBeNull();
});

test("records arguments that are not JSON as 400, with the hash of the model's text", async () => {
  const { echo, ran } = tools();
  await runWith([echo], 'broken', { args: '{broken' });
  expect(ran).toEqual([]);
  const [event] = await service.storedEvents('broken');
  expect(event?.payload).toMatchObject({ toolName: 'echo', responseStatus: 400 });
  expect(event?.payload?.argumentsHash).toBe(await hashArguments('{broken'));
});

test("hashes invalid arguments from the model's text, which the SDK hides from hooks", async () => {
  const { echo } = tools();
  await runWith([echo], 'misfit', { args: { text: 5 } });
  const [event] = await service.storedEvents('misfit');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 5 }));
});

test('records an unknown tool as 404 if the SDK reports it to the model', async () => {
  const runner = new Runner({ toolNotFoundBehavior: 'return_error_to_model' });
  await runWith([], 'nowhere', { runner });
  expect(await service.events('nowhere')).toMatchObject([{ toolName: 'nowhere', status: 404 }]);
});

test("records a call rejected by a user's guardrail as 403", async () => {
  const { echo, ran } = tools();
  echo.inputGuardrails = [
    {
      type: 'tool_input',
      name: 'own',
      run: async () => ({ behavior: { type: 'rejectContent', message: 'not here' } }),
    },
  ];
  expect(await runWith([echo], 'own', { args: { text: 'x' } })).toEqual(['not here']);
  expect(ran).toEqual([]);
  expect(await service.events('own')).toMatchObject([{ toolName: 'echo', status: 403 }]);
});
