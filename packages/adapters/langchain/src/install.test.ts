import { createRequire } from 'node:module';
import { Service, secondCopy } from '@actlog/adapter-suite';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { chatModelOf, inThread, modelOf, question, type Turns, tools } from '../tests/agent.ts';
import { install, message, once } from '../tests/process-coverage.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

test('covers agents, graphs and tools that were created before, until it is stopped', async () => {
  const { echo } = tools();
  const agent = createAgent({ name: 'old', model: chatModelOf([...once, ...once]), tools: [echo] });
  const node = new ToolNode([echo]);
  const runAll = async () => {
    await agent.invoke(question, inThread('before'));
    await node.invoke(
      { messages: [message({ name: 'echo', args: { text: 'y' }, id: '1' })] },
      inThread('before'),
    );
    await echo.invoke({ text: 'by hand' }, inThread('before'));
  };
  const stop = install({ recorder: service.recorder() });
  await runAll();
  stop();
  await runAll();
  expect(await service.callLines('before')).toEqual(['old echo 200', 'tester echo 200', 'tester echo 200']);
});

test('applies the last of several installs, and the one before when that is stopped', async () => {
  const { echo } = tools();
  const runOnce = () => echo.invoke({ text: 'x' });
  const recorder = service.recorder();
  install({ recorder, agentId: 'first', sessionId: 'installs' });
  const stop = install({ recorder, agentId: 'second', sessionId: 'installs' });
  await runOnce();
  stop();
  await runOnce();
  expect(await service.callLines('installs')).toEqual(['second echo 200', 'first echo 200']);
});

test('ends a call that is held as it began, although the coverage has ended', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
  });
  onTestFinished(() => policies.archive(id).then(() => {}));
  const { echo, ran } = tools();
  const stop = install({ recorder: service.guarded() });
  const run = createAgent({ model: modelOf(once), tools: [echo] }).invoke(question, inThread('stopped'));
  await service.held('stopped');
  stop();
  expect(ran).toEqual([]);
  await service.decide('stopped', 'approve');
  await run;
  expect(ran).toEqual(['echo x']);
  expect((await service.events('stopped')).map(({ status }) => status)).toEqual([200]);
});

test('leaves agents with their own middleware and wrapped tools to those, also what they exclude', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'of-process', agentId: 'process' });
  const { echo, fail } = tools();
  const twice: Turns = [[...(once[0] ?? []), { name: 'fail', args: {} }]];
  const own = { recorder, sessionId: 'nearer', exclude: ['fail'] };
  const agents = [
    createAgent({
      model: modelOf(twice),
      tools: [echo, fail],
      middleware: [actlog({ ...own, agentId: 'middleware' })],
    }),
    createAgent({ model: modelOf(once), tools: actlog.tools([echo], { ...own, agentId: 'wrapped' }) }),
  ];
  for (const agent of agents) await agent.invoke(question);
  expect(await service.callLines('nearer')).toEqual(['middleware echo 200', 'wrapped echo 200']);
  expect(await service.events('of-process')).toEqual([]);
});

test('knows an agent with its own middleware as a node of another graph', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'of-process-2' });
  const { echo } = tools();
  const agent = createAgent({
    model: modelOf(once),
    tools: [echo],
    middleware: [actlog({ recorder, sessionId: 'own-node', agentId: 'own' })],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('agent', agent.graph as never)
    .addEdge('__start__', 'agent')
    .compile();
  await graph.invoke(question);
  expect(await service.callLines('own-node')).toEqual(['own echo 200']);
  expect(await service.events('of-process-2')).toEqual([]);
});

test('counts each call once with a second copy of the adapter', async () => {
  const recorder = service.recorder();
  const copy = await secondCopy(() => import('./index.ts'));
  onTestFinished(copy.actlog.install({ recorder, sessionId: 'copies', agentId: 'copy' }));
  const { echo } = tools();
  await createAgent({ model: modelOf(once), tools: [echo] }).invoke(question);
  await createAgent({
    model: modelOf(once),
    tools: [echo],
    middleware: [actlog({ recorder, sessionId: 'copies', agentId: 'own' })],
  }).invoke(question);
  expect(await service.callLines('copies')).toEqual(['copy echo 200', 'own echo 200']);
});

test('records the status of an error whose hook belongs to another copy of the adapter', async () => {
  install({ recorder: service.recorder() })();
  const copy = await secondCopy(() => import('./index.ts'));
  onTestFinished(copy.actlog.install({ recorder: service.recorder(), sessionId: 'other-copy' }));
  const node = new ToolNode([tools().fail]);
  await node.invoke({ messages: [message({ name: 'fail', args: {}, id: '1' })] });
  expect(await service.callLines('other-copy')).toEqual(['tester fail 502']);
});

test('covers the copy of LangChain that `require` has loaded before', async ({ task, skip }) => {
  // `require` finds the packages of this folder, whichever versions the test imports.
  skip(task.file.projectName === 'langchain-lowest');
  const require = createRequire(import.meta.url);
  const required = {
    ...(require('langchain') as typeof import('langchain')),
    ...(require('@langchain/core/testing') as typeof import('@langchain/core/testing')),
  };
  const echo = required.tool(({ text }) => text, {
    name: 'echo',
    description: 'Says it again.',
    schema: z.object({ text: z.string() }),
  });
  const model = required
    .fakeModel()
    .respondWithTools([
      { name: 'echo', args: { text: 'x' } },
      { name: 'nowhere', args: {} },
    ])
    .respond(new required.AIMessage('done'));
  const agent = required.createAgent({ name: 'required', model, tools: [echo] });
  install({ recorder: service.recorder() });
  await agent.invoke(question, inThread('required'));
  expect((await service.callLines('required')).sort()).toEqual(['required echo 200', 'required nowhere 404']);
});
