import { Service } from '@actlog/adapter-suite';
import { AgentTool, LlmAgent, SequentialAgent, Workflow } from '@google/adk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, runAgent, type Turns, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'deep' } };
const ask = { name: 'helper', args: { request: 'what?' } };

test('records calls of an agent tool once under its name, and runs its own callbacks', async () => {
  const own = tools();
  const heard: string[] = [];
  const helper = new LlmAgent({
    name: 'helper',
    model: modelOf([[echo], []]),
    tools: [own.echo],
    beforeToolCallback: ({ tool }) => {
      heard.push(tool.name);
      return undefined;
    },
  });
  const adapter = { recorder: service.recorder() };
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask], [ask]]),
    tools: [new AgentTool({ agent: helper })],
  });
  await runAgent(outer, { sessionId: 'inner', plugins: [actlog(adapter), actlog(adapter)] });
  expect(await service.events('inner')).toMatchObject([
    { agentId: 'helper', toolName: 'echo', status: 200 },
    { agentId: 'outer', toolName: 'helper', status: 200 },
    { agentId: 'outer', toolName: 'helper', status: 200 },
  ]);
  expect(heard).toEqual(['echo']);
  expect(await service.innerCalls('inner')).toEqual(['helper in outer: echo']);
});

test('guards a nested agent inside an agent tool', async () => {
  const { id } = await service.client.policies.create({
    name: 'no echo',
    effect: 'deny',
    match: { tools: ['echo'] },
  });
  const own = tools();
  const deep = new LlmAgent({ name: 'deep', model: modelOf([[echo]]), tools: [own.echo] });
  const middle = new LlmAgent({
    name: 'middle',
    model: modelOf([[{ name: 'deep', args: { request: 'what?' } }]]),
    tools: [new AgentTool({ agent: deep })],
  });
  const helper = new SequentialAgent({ name: 'helper', subAgents: [middle] });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask]]),
    tools: [new AgentTool({ agent: helper })],
  });
  await runAgent(outer, { sessionId: 'deep', plugins: [actlog({ recorder: service.guarded() })] });
  expect(own.ran).toEqual([]);
  const events = (await service.events('deep')).map(({ agentId, status }) => `${agentId} ${status}`);
  expect(events.sort()).toEqual(['deep 403', 'middle 200', 'outer 200']);
  expect((await service.innerCalls('deep')).sort()).toEqual([
    'deep in middle, helper, outer: echo',
    'middle in helper, outer: deep',
  ]);
  await service.client.policies.archive(id);
});

test('guards an agent that an agent tool hands over to', async () => {
  const { id } = await service.client.policies.create({
    name: 'no echo',
    effect: 'deny',
    match: { tools: ['echo'] },
  });
  const own = tools();
  const transfer = { name: 'transfer_to_agent', args: { agentName: 'peer' } };
  const helper = new LlmAgent({ name: 'helper', model: modelOf([[transfer]]) });
  const peer = new LlmAgent({ name: 'peer', model: modelOf([[echo]]), tools: [own.echo] });
  new LlmAgent({ name: 'team', model: modelOf([]), subAgents: [helper, peer] });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask]]),
    tools: [new AgentTool({ agent: helper })],
  });
  await runAgent(outer, { sessionId: 'peer', plugins: [actlog({ recorder: service.guarded() })] });
  await service.client.policies.archive(id);
  expect(own.ran).toEqual([]);
  const lines = await service.callLines('peer');
  expect(lines.sort()).toEqual(['helper transfer_to_agent 200', 'outer helper 200', 'peer echo 403']);
});

test('records an agent tool that continues its session, even if a subagent was last active', async () => {
  const own = tools();
  const transfer = { name: 'transfer_to_agent', args: { agentName: 'deep' } };
  const turns = [[echo], { content: { role: 'model', parts: [{ text: 'so far' }] } }, [{ ...echo }]];
  const deep = new LlmAgent({ name: 'deep', model: modelOf(turns), tools: [own.echo] });
  const helper = new LlmAgent({ name: 'helper', model: modelOf([[transfer]]), subAgents: [deep] });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask], [{ ...ask }]]),
    tools: [new AgentTool({ agent: helper })],
  });
  await runAgent(outer, { sessionId: 'goes on', plugins: [actlog({ recorder: service.recorder() })] });
  const events = (await service.events('goes on')).map(({ agentId, toolName }) => `${agentId} ${toolName}`);
  expect(events).toEqual([
    'helper transfer_to_agent',
    'deep echo',
    'outer helper',
    'deep echo',
    'outer helper',
  ]);
});

test('records the same inside an agent tool as outside', async () => {
  const own = tools();
  const result = { outcome: 'OUTCOME_OK', output: '' };
  const parts = [{ executableCode: { language: 'PYTHON', code: '1' } }, { codeExecutionResult: result }];
  const steps = new Workflow({
    name: 'steps',
    inputSchema: z.object({ text: z.string() }),
    edges: [['START', own.echo]],
  });
  const turns = [
    [{ name: 'steps', args: { text: 'deep' } }],
    [{ name: 'fail', args: {} }],
    [{ name: 'nowhere', args: {} }],
    { content: { role: 'model', parts } },
  ] as Turns;
  const helper = new LlmAgent({
    name: 'helper',
    model: modelOf(turns),
    tools: [steps, own.fail],
    beforeToolCallback: ({ tool }) => (tool === own.fail ? { error: 'not today' } : undefined),
  });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask]]),
    tools: [new AgentTool({ agent: helper })],
  });
  const adapter = { recorder: service.recorder() };
  await runAgent(outer, { sessionId: 'all', plugins: [actlog(adapter), actlog(adapter)] });
  const events = (await service.events('all')).map(({ agentId, toolName, status }) =>
    [agentId, toolName, status].join(' '),
  );
  expect(events).toEqual([
    'helper echo 200',
    'helper steps 200',
    'helper fail 403',
    'helper nowhere 404',
    'helper code_execution 200',
    'outer helper 200',
  ]);
});

test('does not record such an agent when it runs on its own', async () => {
  const own = tools();
  const helper = new LlmAgent({ name: 'helper', model: modelOf([[echo], [], [echo]]), tools: [own.echo] });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[ask]]),
    tools: [new AgentTool({ agent: helper })],
  });
  const plugins = [actlog({ recorder: service.recorder(), exclude: ['helper'], sessionId: 'alone' })];
  await runAgent(outer, { plugins });
  expect(await service.events('alone')).toHaveLength(1);
  const toolResults = toolResultsOf(await runAgent(helper));
  expect(toolResults).toEqual([{ text: 'echo: deep', isError: false }]);
  expect(await service.events('alone')).toHaveLength(1);
});
