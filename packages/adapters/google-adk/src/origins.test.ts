import { Service } from '@actlog/adapter-suite';
import {
  AgentTool,
  BasePlugin,
  FunctionTool,
  LlmAgent,
  type LlmResponse,
  SequentialAgent,
  Workflow,
} from '@google/adk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, runAgent, startSession, type Turns } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';
const account = 'DE89370400440532013000';

const send = new FunctionTool({
  name: 'send',
  description: 'Sends.',
  parameters: z.object({ to: z.string() }),
  execute: () => 'Sent.',
});
const find = new FunctionTool({
  name: 'find',
  description: 'Finds, as an MCP server does.',
  execute: () => ({ content: [{ type: 'text', text: JSON.stringify({ account }) }] }),
});

const sending = (...to: string[]) => to.map((each) => ({ name: 'send', args: { to: each } }));

function agentOf(
  name: string,
  turns: Turns,
  options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {},
) {
  return new LlmAgent({ name, model: modelOf(turns), tools: [send, find], ...options });
}

function recording(exclude: string[] = []) {
  return [actlog({ recorder: service.recorder({ origins: true }), exclude })];
}

/** Returns the reported origins of the calls of `send`. */
async function origins(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map((event) => event.origins.to);
}

test('reads the JSON of an MCP result as its fields', async () => {
  const agent = agentOf('worker', [[{ name: 'find', args: {} }], sending(account)]);
  await runAgent(agent, { sessionId: 'json', plugins: recording() });
  expect(await origins('json')).toMatchObject([{ from: 'tool', as: 'field', toolName: 'find' }]);
});

test('reads the output of code that the provider ran', async () => {
  const ran = { content: { parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: account } }] } };
  const agent = agentOf('worker', [ran as LlmResponse, sending(account)]);
  const session = await startSession(agent, { sessionId: 'code', plugins: recording() });
  await session.send({ text: 'go' });
  await session.send({ text: 'go on' });
  expect(await origins('code')).toMatchObject([{ from: 'tool', as: 'field', toolName: 'code_execution' }]);
});

test('knows what the user said earlier, and behind a plugin that hides messages', async () => {
  class Hiding extends BasePlugin {
    override async onUserMessageCallback({ userMessage }: { userMessage: object }) {
      return userMessage;
    }
  }
  const agent = agentOf('worker', [[], sending(address, other)], { instruction: `Ask ${other}.` });
  const plugins = [new Hiding('hiding'), ...recording()];
  const session = await startSession(agent, { sessionId: 'earlier', plugins });
  await session.send({ text: `The address is ${address}.` });
  await session.send({ text: 'Write to them.' });
  expect(await origins('earlier')).toEqual([{ from: 'user' }, { from: 'system' }]);
});

test('does not take what another agent said or was told for a text of the user or the developer', async () => {
  const said = { content: { role: 'model', parts: [{ text: `Write to ${address}.` }] } };
  const first = agentOf('first', [said], { outputKey: 'draft' });
  const second = agentOf('second', [sending(address, other)], { instruction: 'Do this: {draft}' });
  const team = new SequentialAgent({ name: 'team', subAgents: [first, second] });
  await runAgent(team, { sessionId: 'team', plugins: recording() }, `Ask ${other}.`);
  expect(await origins('team')).toEqual([{ from: 'model' }, { from: 'user' }]);
});

test.each([[[]], [['helper']]])(
  'does not take the request to an agent tool for a text of the user, with %j excluded',
  async (exclude) => {
    const helper = agentOf('helper', [sending(address)]);
    const request = { name: 'helper', args: { request: `Write to ${address}.` } };
    const outer = agentOf('outer', [[request]], { tools: [new AgentTool({ agent: helper })] });
    const sessionId = `tool-${exclude.length}`;
    await runAgent(outer, { sessionId, plugins: recording(exclude) });
    expect(await origins(sessionId)).toEqual([{ from: 'model' }]);
  },
);

test('does not take the input of a node for a text of the user', async () => {
  const said = { content: { role: 'model', parts: [{ text: `Write to ${address}.` }] } };
  const [first, second] = [agentOf('first', [said]), agentOf('second', [sending(address, other)])];
  const workflow = new Workflow({ name: 'flow', edges: [['START', first, second]] } as never);
  await runAgent(workflow as never, { sessionId: 'flow', plugins: recording() }, `Ask ${other}.`);
  expect(await origins('flow')).toEqual([{ from: 'model' }, { from: 'user' }]);
});
