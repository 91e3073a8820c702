import { Service } from '@actlog/adapter-suite';
import { Agent, BeforeModelCallEvent, Graph, Message, Swarm, TextBlock, tool } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, type Turns } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';
const account = 'DE89370400440532013000';

const send = tool({
  name: 'send',
  description: 'Sends.',
  inputSchema: z.object({ to: z.string() }),
  callback: () => 'Sent.',
});
const find = tool({
  name: 'find',
  description: 'Finds.',
  inputSchema: z.object({}),
  callback: () => ({ account }),
});

const sending = (...to: string[]) => to.map((each) => ({ name: 'send', args: { to: each } }));

function agentOf(turns: Turns, options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  return new Agent({ model: modelOf(turns), tools: [send, find], printer: false, ...options });
}

function recording(sessionId: string, exclude: string[] = []) {
  return { interventions: [actlog({ recorder: service.recorder({ origins: true }), sessionId, exclude })] };
}

/** Returns the reported origins of the calls of `send`. */
async function origins(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map((event) => event.origins.to);
}

test('reads the JSON of a result as its fields', async () => {
  await agentOf([[{ name: 'find', args: {} }], sending(account)], recording('json')).invoke('go');
  expect(await origins('json')).toMatchObject([{ from: 'tool', as: 'field', toolName: 'find' }]);
});

test('knows texts in parts, of every run', async () => {
  const agent = agentOf([sending(address, other), [], sending(other)], {
    ...recording('parts'),
    systemPrompt: [new TextBlock(`Ask ${address}.`)],
  });
  await agent.invoke('go');
  await agent.invoke([new TextBlock(`Write to ${other}.`)]);
  expect(await origins('parts')).toEqual([{ from: 'system' }, { from: 'model' }, { from: 'user' }]);
});

test('does not take summaries and feedback for texts of the user', async () => {
  const agent = agentOf([sending(address)], recording('summary'));
  agent.addHook(BeforeModelCallEvent, () => {
    agent.messages.push(new Message({ role: 'user', content: [new TextBlock(`They said: ${address}.`)] }));
  });
  await agent.invoke('go');
  expect(await origins('summary')).toEqual([{ from: 'model' }]);
});

test.each([
  ['recorded', []],
  ['excluded', ['inner']],
])('does not take the prompt of an agent used as a tool for a text of the user: %s', async (_, exclude) => {
  const sessionId = `nested-${exclude.length}`;
  const inner = agentOf([sending(address)], { name: 'inner', description: 'Writes.' });
  const turns = [[{ name: 'inner', args: { input: `Write to ${address}.` } }]];
  await agentOf(turns, { tools: [inner], ...recording(sessionId, exclude) }).invoke('go');
  expect(await origins(sessionId)).toEqual([{ from: 'model' }]);
});

test('knows what the user said to a swarm or graph, and not what its agents say to each other', async () => {
  const handoff = (args: Record<string, unknown>) => [{ name: 'strands_structured_output', args }];
  const first = agentOf([sending(other), handoff({ agentId: 'second', message: `Write to ${address}.` })], {
    id: 'first',
    ...recording('swarm'),
  });
  const second = agentOf([sending(address, other), handoff({ message: 'done' })], { id: 'second' });
  await new Swarm({ nodes: [first, second], maxSteps: 5 }).invoke(`Write to ${other}.`);
  expect(await origins('swarm')).toEqual([{ from: 'user' }, { from: 'model' }, { from: 'user' }]);

  const head = agentOf([sending(other)], { id: 'head' });
  const tail = agentOf([sending(other)], { id: 'tail', ...recording('graph') });
  const inner = new Graph({ id: 'inner', nodes: [tail], edges: [] });
  await new Graph({ nodes: [head, inner], edges: [['head', 'inner']] }).invoke(`Write to ${other}.`);
  expect(await origins('graph')).toEqual([{ from: 'user' }, { from: 'user' }]);
});
