import { Service } from '@actlog/adapter-suite';
import type { Agent } from '@mastra/core/agent';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inThread, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
});
afterAll(() => service.close());

const turn = [
  { name: 'echo', args: { text: 'x' } },
  { name: 'fail', args: {} },
];

/** Creates an agent with the tools `echo` and `fail`, called once each. */
function workerOf(hooks?: ToolHooks) {
  const { ran, echo, fail } = tools();
  const { agent } = agentOf({ id: 'worker', turns: [turn], tools: { echo, fail }, ...(hooks && { hooks }) });
  return { ran, agent };
}

/** Runs an agent that delegates to another. */
async function delegate(worker: Agent, thread: string, hooks: ToolHooks) {
  const turns = [[{ name: 'agent-worker', args: { prompt: 'go' } }]];
  const { agent } = agentOf({ id: 'lead', turns, agents: { worker }, hooks });
  await agent.generate('go', inThread(thread));
}

test('covers agents that a covered agent delegates to, at any depth', async () => {
  const { ran, agent: worker } = workerOf();
  const turns = [[{ name: 'agent-worker', args: { prompt: 'go' } }]];
  const { agent: between } = agentOf({ id: 'between', turns, agents: { worker } });
  const { agent: lead } = agentOf({
    id: 'lead',
    turns: [[{ name: 'agent-between', args: { prompt: 'go' } }]],
    agents: { between },
    hooks: actlog({ recorder: service.guarded() }),
  });
  await lead.generate('go', inThread('deep'));
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('deep')).sort()).toEqual([
    'between agent-worker 200',
    'lead agent-between 200',
    'worker echo 200',
    'worker fail 403',
  ]);
  expect((await service.innerCalls('deep')).sort()).toEqual([
    'between in lead: agent-worker',
    'worker in between, lead: echo',
    'worker in between, lead: fail',
  ]);
});

test("covers an agent run by a tool's function, in the session of the call", async () => {
  const { ran, agent: worker } = workerOf();
  const ask = createTool({
    id: 'ask',
    description: 'Asks the worker.',
    inputSchema: z.object({}),
    execute: async () => (await worker.generate('go')).text,
  });
  const { agent: lead } = agentOf({
    id: 'lead',
    turns: [[{ name: 'ask', args: {} }]],
    tools: { ask },
    hooks: actlog({ recorder: service.guarded() }),
  });
  await lead.generate('go', inThread('by-function'));
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('by-function')).sort()).toEqual([
    'lead ask 200',
    'worker echo 200',
    'worker fail 403',
  ]);
});

test("keeps an inner agent's own hooks without recording twice", async () => {
  const heard: string[] = [];
  const { agent: hearing } = workerOf({ beforeToolCall: ({ toolName }) => void heard.push(toolName) });
  await delegate(hearing, 'hearing', actlog({ recorder: service.guarded() }));
  expect(heard).toEqual(['echo', 'fail']);
  expect(await service.callLines('hearing')).toHaveLength(3);

  const recorder = service.guarded();
  const { agent: own } = workerOf(actlog({ recorder, agentId: 'own' }));
  await delegate(own, 'own', actlog({ recorder }));
  expect((await service.callLines('own')).sort()).toEqual([
    'lead agent-worker 200',
    'own echo 200',
    'own fail 403',
  ]);
});

test('does not cover agents next to or after a covered one', async () => {
  await delegate(workerOf().agent, 'covered', actlog({ recorder: service.recorder() }));
  const { ran, agent } = workerOf();
  await agent.generate('go', inThread('beside'));
  expect(ran).toEqual(['echo x', 'fail']);
  expect(await service.callLines('beside')).toEqual([]);
});
