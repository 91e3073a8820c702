import { Service } from '@actlog/adapter-suite';
import { AgentTool, LlmAgent, SequentialAgent } from '@google/adk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, runAgent, toolAnswers, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'deep' } };
const ask = { name: 'helper', args: { request: 'what?' } };

test('an agent as a tool: its calls are recorded once, under its name, and its own callbacks are called', async () => {
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
});

test('an agent within an agent within a tool is guarded', async () => {
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
  expect(events).toEqual(['deep 403', 'middle 200', 'outer 200']);
  await service.client.policies.archive(id);
});

test('on its own again, such an agent is recorded by nobody', async () => {
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
  const answers = toolAnswers(await runAgent(helper));
  expect(answers).toEqual([{ text: 'echo: deep', isError: false }]);
  expect(await service.events('alone')).toHaveLength(1);
});
