import { Service } from '@actlog/adapter-suite';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, type ToolMessage, tool } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, type Turns, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

const turn: Turns = [
  [
    { name: 'echo', args: { text: 'x' } },
    { name: 'fail', args: {} },
  ],
];

/** Creates a tool that runs an agent, like the tools of a supervisor and the `task` of a deep agent. */
function asking(run: () => Promise<{ messages: { text: string }[] }>) {
  return tool(async () => (await run()).messages.map(({ text }) => text).join('\n'), {
    name: 'ask',
    description: 'Asks the inner agent.',
    schema: z.object({}),
  });
}

async function runOuter(ask: StructuredToolInterface, adapter: Parameters<typeof actlog>[0], thread: string) {
  const model = modelOf([[{ name: 'ask', args: {} }]]);
  const outer = createAgent({ name: 'outer', model, tools: [ask], middleware: [actlog(adapter)] });
  const { messages } = await outer.invoke(question, inThread(thread));
  return (messages.find(({ type }) => type === 'tool') as ToolMessage | undefined)?.text ?? '';
}

test('records and guards an agent run by a tool of a covered agent', async () => {
  const { echo, fail, ran } = tools();
  const inner = createAgent({ name: 'inner', model: modelOf(turn), tools: [echo, fail] });
  const told = await runOuter(
    asking(() => inner.invoke(question)),
    { recorder: service.guarded() },
    'agent',
  );
  expect(ran).toEqual(['echo x']);
  expect(told).toContain('Never fail.');
  expect((await service.callLines('agent')).sort()).toEqual([
    'inner echo 200',
    'inner fail 403',
    'outer ask 200',
  ]);
});

test('records and guards an inner graph with a ToolNode, at any depth', async () => {
  const { echo, fail, ran } = tools();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([echo, fail]))
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addEdge('tools', END)
    .compile();
  const model = modelOf(turn);
  const between = createAgent({
    name: 'between',
    model: modelOf([[{ name: 'ask', args: {} }]]),
    tools: [asking(() => graph.invoke(question))],
  });
  await runOuter(
    asking(() => between.invoke(question)),
    { recorder: service.guarded() },
    'graph',
  );
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('graph')).map((call) => call.slice(call.indexOf(' ') + 1)).sort()).toEqual([
    'ask 200',
    'ask 200',
    'echo 200',
    'fail 403',
  ]);
});

test('counts each call of an inner agent with its own middleware once, by its own options', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const model = () => modelOf([[{ name: 'echo', args: { text: 'x' } }]]);
  const own = createAgent({
    model: model(),
    tools: [echo],
    middleware: [actlog({ recorder, sessionId: 'own', agentId: 'own' })],
  });
  const wrapped = createAgent({
    model: model(),
    tools: actlog.tools([echo], { recorder, sessionId: 'own', agentId: 'wrapped' }),
  });
  for (const inner of [own, wrapped]) {
    await runOuter(
      asking(() => inner.invoke(question)),
      { recorder },
      'outer-of-own',
    );
  }
  expect(await service.callLines('own')).toEqual(['own echo 200', 'wrapped echo 200']);
  expect(await service.callLines('outer-of-own')).toEqual(['outer ask 200', 'outer ask 200']);
});

test('excludes tools in inner agents, and records what a tool invokes itself', async () => {
  const { echo, fail } = tools();
  const inner = createAgent({ model: modelOf(turn), tools: [echo, fail] });
  const recorder = service.recorder();
  await runOuter(
    asking(() => inner.invoke(question)),
    { recorder, exclude: ['fail'] },
    'excluded',
  );
  const byHand = asking(async () => ({ messages: [{ text: await echo.invoke({ text: 'by hand' }) }] }));
  await runOuter(byHand, { recorder }, 'excluded');
  expect((await service.events('excluded')).map(({ toolName }) => toolName)).toEqual([
    'echo',
    'ask',
    'echo',
    'ask',
  ]);
});
