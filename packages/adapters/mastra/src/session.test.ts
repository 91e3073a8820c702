import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inMastra, inThread, tools } from '../tests/agent.ts';
import { legacyModelOf } from '../tests/legacy-model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echoing = [[{ name: 'echo', args: { text: 'a' } }], [{ name: 'echo', args: { text: 'b' } }]];

/** Enables tracing without using it. */
const mute = {
  name: 'mute',
  exportTracingEvent: async () => {},
  flush: async () => {},
  shutdown: async () => {},
};

/** Returns the sizes of an agent's sessions. */
async function sizes(agentId: string) {
  await service.events('none');
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => eventCount).sort();
}

test('uses one session per run without a thread', async () => {
  const { echo } = tools();
  const hooks = actlog({ recorder: service.recorder() });
  for (let turn = 0; turn < 2; turn += 1) {
    await agentOf({ id: 'no-thread', turns: echoing, tools: { echo }, hooks, memory: false }).agent.generate(
      'go',
    );
  }
  expect(await sizes('no-thread')).toEqual([2, 2]);
});

test('uses one session per run with a legacy model', async () => {
  const { echo } = tools();
  const hooks = actlog({ recorder: service.recorder() });
  for (let run = 0; run < 2; run += 1) {
    const model = legacyModelOf('echo', [{ text: 'a' }, { text: 'b' }]);
    const settings = { id: 'legacy', name: 'Legacy', instructions: 'Do as you are told.', model };
    const agent = new Agent({ ...settings, tools: { echo }, hooks });
    expect((await agent.generateLegacy('go')).text).toBe('done');
  }
  expect(await sizes('legacy')).toEqual([2, 2]);
});

test('uses the thread of a traced run without a memory', async () => {
  const { echo } = tools();
  const hooks = actlog({ recorder: service.recorder() });
  const { agent } = agentOf({ turns: echoing, tools: { echo }, hooks, memory: false });
  inMastra({ agent }, mute);
  await agent.generate('go', inThread('traced'));
  expect(await service.events('traced')).toHaveLength(2);
});

test.each(['hooks', 'exporter'] as const)(
  'records each call of a delegated agent once, under its name, in one session: %s',
  async (hook) => {
    const adapter = { recorder: service.recorder() };
    const withHooks = hook === 'hooks' && { hooks: actlog(adapter) };
    const { echo } = tools();
    const { agent: inner } = agentOf({ id: 'researcher', turns: echoing, tools: { echo }, ...withHooks });
    const { agent: outer } = agentOf({
      id: 'writer',
      turns: [[{ name: 'agent-inner', args: { prompt: 'what?' } }]],
      agents: { inner },
      ...withHooks,
    });
    if (hook === 'exporter') inMastra({ outer, inner }, actlog.exporter(adapter));
    await outer.generate('go', inThread(`delegated-${hook}`));
    const events = await service.events(`delegated-${hook}`);
    expect(events.map(({ agentId, toolName }) => `${agentId} ${toolName}`)).toEqual([
      'researcher echo',
      'researcher echo',
      'writer agent-inner',
    ]);
    // Mastra adds ids of its memory to the model's arguments.
    const stored = await service.storedEvents(`delegated-${hook}`);
    expect(stored.at(-1)?.payload?.argumentsHash).toBe(await hashArguments({ prompt: 'what?' }));
  },
);

test('uses the session of a traced run for an agent delegated to by one without hooks', async () => {
  const { echo } = tools();
  const hooks = actlog({ recorder: service.recorder() });
  const { agent: inner } = agentOf({ id: 'researcher', turns: echoing, tools: { echo }, hooks });
  const turns = [[{ name: 'agent-inner', args: { prompt: 'what?' } }]];
  const { agent: outer } = agentOf({ id: 'writer', turns, agents: { inner } });
  inMastra({ outer, inner }, mute);
  await outer.generate('go', inThread('delegated-traced'));
  expect(await service.events('delegated-traced')).toHaveLength(2);
});

test('keeps the thread of an agent run by a tool, else uses the session of the call', async () => {
  const adapter = { recorder: service.recorder() };
  const { echo } = tools();
  const ask = (id: string, options: Partial<ReturnType<typeof inThread>>) =>
    createTool({
      id,
      description: 'Asks another agent.',
      inputSchema: z.object({}),
      execute: async () => {
        const inner = agentOf({ id: 'inner', turns: echoing, tools: { echo }, hooks: actlog(adapter) });
        return (await inner.agent.generate('go', options)).text;
      },
    });
  const { agent } = agentOf({
    turns: [[{ name: 'elsewhere', args: {} }], [{ name: 'here', args: {} }]],
    tools: { elsewhere: ask('elsewhere', inThread('own-thread')), here: ask('here', {}) },
    hooks: actlog(adapter),
  });
  await agent.generate('go', inThread('outer-thread'));
  expect(await service.events('own-thread')).toHaveLength(2);
  const names = (await service.events('outer-thread')).map(({ toolName }) => toolName);
  expect(names).toEqual(['elsewhere', 'echo', 'echo', 'here']);
});
