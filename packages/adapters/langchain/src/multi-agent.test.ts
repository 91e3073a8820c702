import { Service } from '@actlog/adapter-suite';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  entrypoint,
  getCurrentTaskInput,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createAgent, type ToolRuntime, tool } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { askingTool, inThread, question, sharedModelOf, type Turns, tools } from '../tests/agent.ts';
import { install } from '../tests/process-coverage.ts';
import { recordedSessions } from '../tests/recorded-sessions.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
  await service.holdTool('held');
});
afterAll(() => service.close());

/** Creates an agent that makes these calls. */
function agentOf(name: string, turns: Turns, used: ReturnType<typeof tools>['echo'][]) {
  return createAgent({ name, model: sharedModelOf(turns), tools: used });
}

/** Creates a tool that hands over to another agent of the graph, like those of supervisors and swarms. */
function handOffTo(name: string) {
  const toolName = `transfer_to_${name}`;
  const handOff = (_input: unknown, { toolCall }: ToolRuntime & { toolCall?: { id?: string } }) => {
    const { messages } = getCurrentTaskInput() as typeof MessagesAnnotation.State;
    const told = new ToolMessage({
      content: `To ${name}.`,
      name: toolName,
      tool_call_id: toolCall?.id ?? '',
    });
    return new Command({ goto: name, graph: Command.PARENT, update: { messages: [...messages, told] } });
  };
  return tool(handOff as never, { name: toolName, description: `Asks ${name}.`, schema: z.object({}) });
}

test('covers the agents that a supervisor has as tools, at any depth', async () => {
  const { echo, fail, ran } = tools();
  const deep = agentOf(
    'deep',
    [
      [
        { name: 'echo', args: { text: 'a' } },
        { name: 'fail', args: {} },
      ],
    ],
    [echo, fail as never],
  );
  const middle = agentOf(
    'middle',
    [[{ name: 'ask_deep', args: {} }], [{ name: 'nowhere', args: {} }]],
    [askingTool(() => deep.invoke(question), 'ask_deep') as never],
  );
  const supervisor = agentOf(
    'supervisor',
    [[{ name: 'ask_middle', args: {} }], [{ name: 'echo', args: { text: 'b' } }]],
    [askingTool(() => middle.invoke(question), 'ask_middle') as never, echo],
  );
  install({ recorder: service.guarded() });
  await supervisor.invoke(question, inThread('as-tools'));
  expect(ran).toEqual(['echo a', 'echo b']);
  expect((await service.innerCalls('as-tools')).sort()).toEqual([
    'deep in middle, supervisor: echo',
    'deep in middle, supervisor: fail',
    'middle in supervisor: ask_deep',
    'middle in supervisor: nowhere',
  ]);
  expect((await service.callLines('as-tools')).sort()).toEqual([
    'deep echo 200',
    'deep fail 403',
    'middle ask_deep 200',
    'middle nowhere 404',
    'supervisor ask_middle 200',
    'supervisor echo 200',
  ]);
});

test('covers agents that hand over to each other, in one session without a thread', async () => {
  const { echo, fail, ran } = tools();
  const recorder = service.guarded();
  const first = createAgent({
    name: 'first',
    model: sharedModelOf([
      [{ name: 'echo', args: { text: 'a' } }],
      [{ name: 'transfer_to_second', args: {} }],
    ]),
    tools: [echo, handOffTo('second')],
  });
  const second = createReactAgent({
    name: 'second',
    llm: sharedModelOf([
      [
        { name: 'fail', args: {} },
        { name: 'echo', args: { text: 'b' } },
      ],
    ]),
    tools: [echo, fail],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('first', first.graph as never, { ends: ['second'] })
    .addNode('second', second as never)
    .addEdge(START, 'first')
    .compile({ name: 'swarm' });
  install({ recorder });
  await graph.invoke(question);
  expect(ran).toEqual(['echo a', 'echo b']);
  const [sessions] = await recordedSessions(service, 'second');
  expect(sessions).toEqual([
    'first echo 200',
    'first transfer_to_second 200',
    'second echo 200',
    'second fail 403',
  ]);
  expect(await recordedSessions(service, 'first')).toEqual([sessions]);
});

const Questions = Annotation.Root({
  question: Annotation<string>,
  answers: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** Creates a graph that routes a question to two agents at once, which have messages of their own. */
function router(names: readonly [string, string], used: ReturnType<typeof tools>['echo']) {
  const nodes = names.map((name) => {
    const agent = agentOf(name, [[{ name: 'echo', args: { text: name } }]], [used]);
    return async ({ question: asked }: typeof Questions.State) => {
      const { messages } = await agent.invoke({ messages: [new HumanMessage(asked)] });
      return { answers: [messages.at(-1)?.text ?? ''] };
    };
  });
  const route = ({ question: asked }: typeof Questions.State) =>
    names.map((name) => new Send(name, { question: asked }));
  return new StateGraph(Questions)
    .addNode(names[0], nodes[0] as never)
    .addNode(names[1], nodes[1] as never)
    .addConditionalEdges(START, route as never, [...names] as never)
    .compile();
}

test('covers parallel agents of a router, each run in a session of its own', async () => {
  const { echo } = tools();
  install({ recorder: service.recorder() });
  await Promise.all(
    ['x', 'y'].map((name) => router(['left', 'right'], echo).invoke({ question: `${name}?` })),
  );
  const run = ['left echo 200', 'right echo 200'];
  expect(await recordedSessions(service, 'left')).toEqual([run, run]);
  expect(await recordedSessions(service, 'right')).toEqual([run, run]);
});

test('covers a router in the session of its thread, also when it is streamed', async () => {
  const { echo, ran } = tools();
  install({ recorder: service.recorder() });
  const stream = await router(['east', 'west'], echo).stream({ question: 'where?' }, inThread('streamed'));
  for await (const _ of stream);
  expect(ran.toSorted()).toEqual(['echo east', 'echo west']);
  expect((await service.callLines('streamed')).sort()).toEqual(['east echo 200', 'west echo 200']);
});

test('keeps a streamed run without a thread in one session', async () => {
  const { echo } = tools();
  install({ recorder: service.recorder() });
  for await (const _ of await router(['north', 'south'], echo).stream({ question: 'where?' }));
  expect(await recordedSessions(service, 'north')).toEqual([['north echo 200', 'south echo 200']]);
});

test('covers the tools of a workflow of functions', async () => {
  const { echo } = tools();
  const agent = agentOf('worker', [[{ name: 'echo', args: { text: 'a' } }]], [echo]);
  const work = task('work', async () => (await agent.invoke(question)).messages.length);
  const call = task('call', async () => echo.invoke({ text: 'b' }));
  const workflow = entrypoint('workflow', async (_input: string) => [await work(), await call()]);
  install({ recorder: service.recorder() });
  await workflow.invoke('go');
  expect(await recordedSessions(service, 'worker')).toEqual([['worker echo 200', 'workflow echo 200']]);
});

test('holds a call of an inner agent until a person decides, while its siblings run', async () => {
  const { echo, ran } = tools();
  const held = tool(() => 'done by a person', { name: 'held', description: 'Waits.', schema: z.object({}) });
  const inner = agentOf(
    'inner',
    [
      [
        { name: 'held', args: {} },
        { name: 'echo', args: { text: 'a' } },
      ],
    ],
    [held as never, echo],
  );
  const ask = askingTool(() => inner.invoke(question));
  install({ recorder: service.guarded() });
  const run = agentOf('outer', [[{ name: 'ask', args: {} }]], [ask as never]).invoke(
    question,
    inThread('held'),
  );
  await service.held('held');
  await expect.poll(() => ran).toEqual(['echo a']);
  await service.decide('held', 'approve');
  expect((await run).messages.map(({ text }) => text).join()).toContain('done by a person');
  expect((await service.callLines('held')).sort()).toEqual([
    'inner echo 200',
    'inner held 200',
    'outer ask 200',
  ]);
});
