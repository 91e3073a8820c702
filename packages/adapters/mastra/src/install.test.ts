import { Service } from '@actlog/adapter-suite';
import { Mastra } from '@mastra/core';
import { Agent, type ToolsInput } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { createCodeMode, createTool, noopObserve, Tool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LocalSandbox } from '@mastra/core/workspace';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inMastra, inThread, tools } from '../tests/agent.ts';
import { RouterModel } from '../tests/router-model.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
  await service.holdTool('pay');
});
afterAll(() => service.close());

let session: string;
let end: () => void = () => {};
beforeEach(({ task }) => {
  session = task.id;
});
afterEach(() => end());

function install(options: ActlogOptions = {}): void {
  end = actlog.install({ recorder: service.guarded(), ...options });
}

async function lines(): Promise<string[]> {
  return (await service.callLines(session)).sort();
}

const turn = [
  { name: 'echo', args: { text: 'x' } },
  { name: 'fail', args: {} },
];

function workerOf(id = 'worker') {
  const { ran, echo, fail } = tools();
  return { ran, ...agentOf({ id, turns: [turn], tools: { echo, fail } }) };
}

/** Creates a tool as it is created before the first `actlog.install()`. */
function createdBefore<Result>(create: () => Result): Result {
  const marker = Symbol.for('mastra.core.tool.Tool');
  const hook = Object.getOwnPropertyDescriptor(Tool.prototype, marker);
  Reflect.deleteProperty(Tool.prototype, marker);
  try {
    return create();
  } finally {
    if (hook) Object.defineProperty(Tool.prototype, marker, hook);
  }
}

const value = z.object({ value: z.number() });

function numberTool(id: string) {
  const ran: number[] = [];
  const tool = createTool({
    id,
    description: 'Takes a number.',
    inputSchema: value,
    outputSchema: value,
    execute: async (input) => {
      ran.push(input.value);
      return input;
    },
  });
  return { ran, tool };
}

async function inNetwork(model: RouterModel, own: { tools?: ToolsInput; agents?: Record<string, Agent> }) {
  const settings = { id: 'router', name: 'Router', instructions: 'Do as you are told.' };
  const agent = new Agent({ ...settings, model: model.config, memory: new MockMemory(), ...own });
  inMastra({ agent });
  const run = await agent.network('go', { ...inThread(session), maxSteps: 3 });
  for await (const _ of run);
  return { status: await run.status, told: model.told };
}

test('covers agents created before, side by side and delegated to', async () => {
  const { agent: worker, ran } = createdBefore(() => workerOf());
  const { agent: lead } = agentOf({
    id: 'lead',
    turns: [[{ name: 'agent-worker', args: { prompt: 'go' } }]],
    agents: { worker },
  });
  const beside = workerOf('beside');
  install();
  await Promise.all([
    lead.generate('go', inThread(session)),
    beside.agent.generate('go', inThread(`${session}-beside`)),
  ]);
  expect(ran).toEqual(['echo x']);
  expect(beside.ran).toEqual(['echo x']);
  expect(await lines()).toEqual(['lead agent-worker 200', 'worker echo 200', 'worker fail 403']);
  const other = await service.callLines(`${session}-beside`);
  expect(other.sort()).toEqual(['beside echo 200', 'beside fail 403']);
});

test.each(['before', 'after'])('covers tools of a network that are created %s', async (when) => {
  const { ran, echo, fail } = when === 'before' ? createdBefore(tools) : tools();
  install();
  await inNetwork(new RouterModel('repeat', { text: 'a' }), { tools: { repeat: echo } });
  const denied = await inNetwork(new RouterModel('fail', {}), { tools: { fail } });
  expect(denied).toMatchObject({ status: 'success', told: expect.stringContaining('Never fail.') });
  expect(ran).toEqual(['echo a']);
  expect(await lines()).toEqual(['router fail 403', 'router repeat 200']);
});

test('covers agents of a network', async () => {
  const { agent: worker, ran } = workerOf();
  install({ sessionId: session });
  await inNetwork(new RouterModel('worker', 'go'), { agents: { worker } });
  expect(ran).toEqual(['echo x']);
  expect(await lines()).toEqual(['worker echo 200', 'worker fail 403']);
});

test('covers copies of tools once', async () => {
  const { ran, echo } = tools();
  install();
  const spread = { ...echo, description: 'A copy.' };
  const assigned = Object.assign(Object.create(Tool.prototype), echo) as typeof echo;
  const wrapped = actlog.tools({ spread }, { recorder: service.recorder(), agentId: 'wrapped' });
  for (const copy of [spread, assigned, { ...assigned }, wrapped.spread, { ...wrapped.spread }]) {
    await inNetwork(new RouterModel('copy', { text: 'a' }), { tools: { copy } });
  }
  expect(ran).toHaveLength(5);
  expect(await lines()).toEqual([
    ...Array(3).fill('router copy 200'),
    ...Array(2).fill('wrapped spread 200'),
  ]);
});

test.each(['before', 'after'])('covers agents and tools of a workflow that is created %s', async (when) => {
  const create = () => {
    const { agent: worker } = workerOf();
    const steps = ['double', 'fail', 'pay'].map(numberTool);
    const workflow = createWorkflow({ id: 'flow', inputSchema: value, outputSchema: z.any() })
      .parallel([
        ...steps.map(({ tool }) => createStep(tool)),
        createStep({
          id: 'work',
          inputSchema: value,
          outputSchema: z.object({ text: z.string() }),
          execute: async () => ({ text: (await worker.generate('go')).text }),
        }),
      ] as never)
      .commit();
    return { workflow, steps };
  };
  const { workflow, steps } = when === 'before' ? createdBefore(create) : create();
  install({ sessionId: session });
  new Mastra({ logger: false, workflows: { workflow } });
  const started = (await workflow.createRun()).start({ inputData: { value: 2 } });
  await service.decide(session, 'approve');
  const { status } = await started;
  expect(status).toBe('failed');
  expect(steps.map(({ ran }) => ran)).toEqual([[2], [], [2]]);
  expect(await lines()).toEqual([
    'tester double 200',
    'tester fail 403',
    'tester pay 200',
    'worker echo 200',
    'worker fail 403',
  ]);
});

test('covers programs of code mode and tools that a step adds', async () => {
  install();
  const { tool: double } = numberTool('double');
  const { tool: fail, ran } = numberTool('fail');
  const { tool } = createCodeMode({ tools: { double, fail }, sandbox: new LocalSandbox() });
  const code = `
    const told = await external_fail({ value: 1 }).catch((error) => error.message);
    return [await external_double({ value: 3 }), told];`;
  const calls = [[{ name: tool.id, args: { code } }], [{ name: 'fail', args: { value: 1 } }]];
  const { agent } = agentOf({ id: 'coder', turns: calls, tools: { [tool.id]: tool } });
  inMastra({ agent });
  await agent.generate('go', {
    ...inThread(session),
    prepareStep: () => ({ tools: { [tool.id]: tool, fail } }),
  });
  expect(ran).toEqual([]);
  expect(await lines()).toHaveLength(4);
  const names = (await lines()).map((line) => line.slice(line.indexOf(' ') + 1));
  expect(names.sort()).toEqual(['double 200', `${tool.id} 200`, 'fail 403', 'fail 403']);
});

test('covers programs of code mode as calls of their agent', async () => {
  install();
  const { tool: double } = numberTool('double');
  const { tool } = createCodeMode({ tools: { double }, sandbox: new LocalSandbox() });
  const code = 'return external_double({ value: 3 });';
  const { agent } = agentOf({
    id: 'coder',
    turns: [[{ name: tool.id, args: { code } }]],
    tools: { [tool.id]: tool },
  });
  await agent.generate('go', inThread(session));
  expect(await lines()).toEqual(['coder double 200', `coder ${tool.id} 200`]);
});

test('the own hooks of an agent and wrapped tools take precedence', async () => {
  const own = { recorder: service.guarded(), agentId: 'own' };
  const { echo, fail } = tools();
  const parts = { turns: [turn], tools: { echo, fail } };
  install({ agentId: 'process' });
  const { agent: hooked } = agentOf({ ...parts, hooks: actlog(own) });
  await hooked.generate('go', inThread(session));
  expect(await lines()).toEqual(['own echo 200', 'own fail 403']);
  const wrapped = actlog.tools({ echo }, own);
  await inNetwork(new RouterModel('echo', { text: 'a' }), { tools: wrapped });
  expect(await lines()).toEqual(['own echo 200', 'own echo 200', 'own fail 403']);
});

test('keeps the hooks of agents and of runs', async () => {
  const heard: string[] = [];
  const hear = (place: string) => ({
    beforeToolCall: ({ toolName }: { toolName: string }) => void heard.push(`${place} ${toolName}`),
  });
  const { echo } = tools();
  const { agent } = agentOf({
    turns: [[{ name: 'echo', args: { text: 'a' } }]],
    tools: { echo },
    hooks: hear('agent'),
  });
  install();
  await agent.generate('go', { ...inThread(session), hooks: hear('run') });
  expect(heard).toEqual(['run echo']);
  expect(await lines()).toEqual(['tester echo 200']);
});

test('a tool that another one runs is a call of its own, and one that is run by hand too', async () => {
  install({ sessionId: session });
  const { echo } = tools();
  const outer = createTool({
    id: 'outer',
    description: 'Runs another.',
    inputSchema: z.object({}),
    execute: async (_, context) => echo.execute?.({ text: 'a', times: 1 }, context),
  });
  const { agent } = agentOf({ turns: [[{ name: 'outer', args: {} }]], tools: { outer } });
  await agent.generate('go');
  await echo.execute?.({ text: 'b', times: 1 }, { observe: noopObserve });
  expect(await lines()).toEqual(['tester echo 200', 'tester echo 200', 'tester outer 200']);
});

test('ends, and runs under way end as they began', async () => {
  const { echo } = tools();
  const stop = createTool({
    id: 'stop',
    description: 'Ends the coverage.',
    inputSchema: z.object({}),
    execute: async () => {
      end();
      return 'ended';
    },
  });
  const { agent } = agentOf({
    turns: [[{ name: 'stop', args: {} }], [{ name: 'echo', args: { text: 'a' } }]],
    tools: { echo, stop },
  });
  install();
  await agent.generate('go', inThread(session));
  const later = agentOf({ turns: [[{ name: 'echo', args: { text: 'b' } }]], tools: { echo } });
  await later.agent.generate('go', inThread(session));
  await inNetwork(new RouterModel('echo', { text: 'c' }), { tools: { echo } });
  expect(await lines()).toEqual(['tester echo 200', 'tester stop 200']);
});

test('the last of several applies, whichever ends first', async () => {
  const { echo } = tools();
  const first = actlog.install({ recorder: service.recorder(), agentId: 'first' });
  install({ agentId: 'last' });
  first();
  const { agent } = agentOf({ turns: [[{ name: 'echo', args: { text: 'a' } }]], tools: { echo } });
  await agent.generate('go', inThread(session));
  expect(await lines()).toEqual(['last echo 200']);
});
