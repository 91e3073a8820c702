import { Service } from '@actlog/adapter-suite';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createSupervisor } from '@langchain/langgraph-supervisor';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { createDeepAgent } from 'deepagents';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inThread, question, sharedModelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { type ActlogOptions, actlog } from './index.ts';

// These libraries load the LangGraph beside them, which is not the oldest.
beforeEach(({ task, skip }) => skip(task.file.projectName === 'langchain-lowest'));

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
  await service.holdTool('echo');
});
afterAll(() => service.close());

function install(options: ActlogOptions): void {
  onTestFinished(actlog.install(options));
}

const failing = [{ name: 'fail', args: {} }];
const speaking = [{ name: 'echo', args: { text: 'a' } }];

test('covers a supervisor and the agents that it hands over to', async () => {
  const { echo, fail, ran } = tools();
  const writer = createReactAgent({
    name: 'writer',
    llm: sharedModelOf([[...failing, ...speaking]]),
    tools: [echo, fail],
  });
  const reader = createAgent({ name: 'reader', model: sharedModelOf([speaking]), tools: [echo] });
  const supervisor = createSupervisor({
    agents: [writer, reader.graph as never],
    llm: sharedModelOf([
      [{ name: 'transfer_to_writer', args: {} }],
      [{ name: 'transfer_to_reader', args: {} }],
      failing,
    ]),
    tools: [fail],
  }).compile({ name: 'team' });
  install({ recorder: service.guarded() });
  const run = supervisor.invoke(question, inThread('supervisor'));
  await service.decide('supervisor', 'approve');
  await service.decide('supervisor', 'approve');
  await run;
  expect(ran).toEqual(['echo a', 'echo a']);
  expect((await service.callLines('supervisor')).sort()).toEqual([
    'reader echo 200',
    'supervisor fail 403',
    'supervisor transfer_to_reader 200',
    'supervisor transfer_to_writer 200',
    'writer echo 200',
    'writer fail 403',
  ]);
});

test('covers the agents of a swarm', async () => {
  const { echo, fail, ran } = tools();
  const agents = [
    createReactAgent({
      name: 'alice',
      llm: sharedModelOf([failing, [{ name: 'transfer_to_bob', args: {} }]]),
      tools: [fail, createHandoffTool({ agentName: 'bob' })],
    }),
    createReactAgent({ name: 'bob', llm: sharedModelOf([speaking]), tools: [echo] }),
  ];
  const swarm = createSwarm({ agents: agents as never[], defaultActiveAgent: 'alice' }).compile();
  install({ recorder: service.guarded() });
  const run = swarm.invoke(question, inThread('swarm'));
  await service.decide('swarm', 'approve');
  await run;
  expect(ran).toEqual(['echo a']);
  expect(await service.callLines('swarm')).toEqual([
    'alice fail 403',
    'alice transfer_to_bob 200',
    'bob echo 200',
  ]);
});

test('covers a deep agent, its own tools and its subagents, also at the same time', async () => {
  const { echo, fail, ran } = tools();
  const subagents = ['left', 'right'].map((name) => ({
    name,
    description: `The agent ${name}.`,
    systemPrompt: 'Work.',
    model: sharedModelOf([[...failing, ...speaking]]),
    tools: [echo, fail],
  }));
  const agent = createDeepAgent({
    name: 'deep',
    model: sharedModelOf([
      [{ name: 'ls', args: { path: '/' } }],
      ['left', 'right'].map((subagent_type) => ({
        name: 'task',
        args: { description: 'Do it.', subagent_type },
      })),
      [{ name: 'write_file', args: { file_path: '/a.txt', content: 'a' } }],
    ]),
    subagents: subagents as never[],
  });
  install({ recorder: service.guarded() });
  const run = agent.invoke(question, inThread('deep'));
  await service.decide('deep', 'approve');
  await service.decide('deep', 'approve');
  const result = await run;
  expect(toolResultsOf(result as never).map(({ status }) => status)).toEqual([
    'success',
    'success',
    'success',
    'success',
  ]);
  expect(ran).toEqual(['echo a', 'echo a']);
  expect((await service.innerCalls('deep')).sort()).toEqual([
    'left in deep: echo',
    'left in deep: fail',
    'right in deep: echo',
    'right in deep: fail',
  ]);
  expect((await service.callLines('deep')).sort()).toEqual([
    'deep ls 200',
    'deep task 200',
    'deep task 200',
    'deep write_file 200',
    'left echo 200',
    'left fail 403',
    'right echo 200',
    'right fail 403',
  ]);
});

test('leaves a deep agent with its own middleware, and its subagents, to that', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'deep-of-process' });
  const { echo } = tools();
  const agent = createDeepAgent({
    name: 'own',
    model: sharedModelOf([[{ name: 'task', args: { description: 'Do it.', subagent_type: 'sub' } }]]),
    middleware: [actlog({ recorder })],
    subagents: [
      {
        name: 'sub',
        description: 'The agent.',
        systemPrompt: 'Work.',
        model: sharedModelOf([[...speaking, { name: 'nowhere', args: {} }]]),
        tools: [echo],
      },
    ] as never[],
  });
  await agent.invoke(question, inThread('deep-own'));
  expect((await service.callLines('deep-own')).sort()).toEqual([
    'own task 200',
    'sub echo 200',
    'sub nowhere 404',
  ]);
  expect(await service.events('deep-of-process')).toEqual([]);
});

const ended = 'The run was ended because the model repeated the call.';

/** Creates a model that makes the same call again and again. */
function repeating(call: { readonly name: string; readonly args: Record<string, unknown> }) {
  return sharedModelOf(Array.from({ length: 200 }, () => [call]));
}

test('ends the run of a deep agent whose model repeats a denied call', async () => {
  install({ recorder: service.guarded() });
  const model = repeating({ name: 'fail', args: {} });
  const agent = createDeepAgent({ name: 'deep', model, tools: [tools().fail] as never[] });
  const { messages } = await agent.invoke(question, inThread('deep-loop'));
  expect(messages.at(-1)?.text).toContain(ended);
  expect(await service.callLines('deep-loop')).toEqual(Array(5).fill('deep fail 403'));
  expect(model.callCount).toBe(5);
});

test('ends the run of a subagent of a deep agent whose model repeats a denied call, and of the deep agent', async () => {
  install({ recorder: service.guarded() });
  const inner = repeating({ name: 'fail', args: {} });
  const outer = repeating({ name: 'task', args: { description: 'Do it.', subagent_type: 'worker' } });
  const worker = {
    name: 'worker',
    description: 'Works.',
    systemPrompt: 'Work.',
    model: inner,
    tools: [tools().fail],
  };
  const agent = createDeepAgent({ name: 'deep', model: outer, subagents: [worker] as never[] });
  const { messages } = await agent.invoke(question, inThread('deep-subagent-loop'));
  expect(messages.at(-1)?.text).toContain(ended);
  const denied = (await service.callLines('deep-subagent-loop')).filter((line) => line === 'worker fail 403');
  expect(denied).toHaveLength(25);
  expect([inner.callCount, outer.callCount]).toEqual([25, 5]);
});
