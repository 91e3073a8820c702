import { Service } from '@actlog/adapter-suite';
import { RunnableLambda } from '@langchain/core/runnables';
import { Command, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, createMiddleware, tool } from 'langchain';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { askingTool, inThread, modelOf, question, toolResultsOf, tools } from '../tests/agent.ts';
import { install, message, once } from '../tests/process-coverage.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

test('sees unknown tools, invalid arguments and errors in a ToolNode, and leaves its messages alone', async () => {
  const { echo, fail, ran } = tools();
  const input = {
    messages: [
      message(
        { name: 'nowhere', args: {}, id: '1' },
        { name: 'echo', args: {}, id: '2' },
        { name: 'fail', args: {}, id: '3' },
        { name: 'echo', args: { text: 'x' }, id: '4' },
      ),
    ],
  };
  const bare = toolResultsOf(await new ToolNode([echo, fail]).invoke(input));
  install({ recorder: service.recorder() });
  expect(toolResultsOf(await new ToolNode([echo, fail]).invoke(input, inThread('node')))).toEqual(bare);
  expect(ran).toEqual(['fail', 'echo x', 'fail', 'echo x']);
  expect((await service.callLines('node')).sort()).toEqual([
    'tester echo 200',
    'tester echo 400',
    'tester fail 502',
    'tester nowhere 404',
  ]);
});

test('denies a call by an error message, and lets its siblings run', async () => {
  install({ recorder: service.guarded() });
  const { echo, fail, ran } = tools();
  const calls = message({ name: 'fail', args: {}, id: '1' }, { name: 'echo', args: { text: 'x' }, id: '2' });
  const toolResults = toolResultsOf(
    await new ToolNode([echo, fail]).invoke({ messages: [calls] }, inThread('denied')),
  );
  expect(toolResults).toEqual([
    { text: expect.stringContaining('Never fail.'), status: 'error' },
    { text: 'echo: x', status: 'success' },
  ]);
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('denied')).sort()).toEqual(['tester echo 200', 'tester fail 403']);
});

test('records calls that a node of a graph makes itself, by the model or by hand', async () => {
  const { echo, fail, ran } = tools();
  const node = async () => {
    const call = { name: 'fail', args: {}, id: '1', type: 'tool_call' as const };
    return { messages: [await fail.invoke(call), await echo.invoke({ text: 'x' })] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('node', node)
    .addEdge('__start__', 'node')
    .compile({ name: 'router' });
  install({ recorder: service.guarded() });
  await graph.invoke(question, inThread('by-hand'));
  expect(ran).toEqual(['echo x']);
  expect(await service.callLines('by-hand')).toEqual(['router fail 403', 'router echo 200']);
});

test('records what a tool itself invokes, and the calls of an agent that it runs', async () => {
  const { echo } = tools();
  const inner = createAgent({
    name: 'inner',
    model: modelOf([[{ name: 'nowhere', args: {} }]]),
    tools: [echo],
  });
  const ask = askingTool(async () => {
    await echo.invoke({ text: 'by the tool' });
    return inner.invoke(question);
  });
  install({ recorder: service.recorder() });
  const outer = createAgent({ name: 'outer', model: modelOf([[{ name: 'ask', args: {} }]]), tools: [ask] });
  await outer.invoke(question, inThread('within'));
  expect(await service.callLines('within')).toEqual(['outer echo 200', 'inner nowhere 404', 'outer ask 200']);
});

test('records a runnable that is used as a tool, with its errors', async () => {
  const run = (name: string, of: () => string) =>
    RunnableLambda.from(of).asTool({ name, schema: z.object({ of: z.number() }) });
  const broken = () => {
    throw Object.assign(new Error('it broke'), { status: 503 });
  };
  install({ recorder: service.recorder() });
  const node = new ToolNode([run('double', () => 'fine'), run('broken', broken)]);
  const calls = message(
    { name: 'double', args: { of: 2 }, id: '1' },
    { name: 'broken', args: { of: 2 }, id: '2' },
  );
  await node.invoke({ messages: [calls] }, inThread('runnable-tool'));
  expect((await service.callLines('runnable-tool')).sort()).toEqual([
    'tester broken 503',
    'tester double 200',
  ]);
});

test('counts a call once when a callback handler sees it too', async () => {
  const recorder = service.recorder();
  install({ recorder });
  const { echo } = tools();
  const agent = createAgent({ model: modelOf(once), tools: [echo] });
  await agent.invoke(question, { ...inThread('callbacks'), callbacks: [actlog.handler({ recorder })] });
  expect(await service.events('callbacks')).toHaveLength(1);
});

test('counts a call once that middleware tries several times, and checks it once', async () => {
  const { policies } = service.client;
  const match = { tools: ['flaky'] };
  const { id } = await policies.create({ name: 'ask', effect: 'require_approval', match });
  onTestFinished(() => policies.archive(id).then(() => {}));
  let tries = 0;
  const flaky = tool(
    () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
      return 'fine';
    },
    { name: 'flaky', description: 'Works the third time.', schema: z.object({}) },
  );
  const retrying = createMiddleware({
    name: 'retrying',
    wrapToolCall: async (request, handler) => {
      for (;;) {
        try {
          return await handler(request);
        } catch {
          // once more
        }
      }
    },
  });
  install({ recorder: service.guarded() });
  const model = modelOf([[{ name: 'flaky', args: {} }]]);
  const agent = createAgent({ model, tools: [flaky], middleware: [retrying] });
  const run = agent.invoke(question, inThread('retried'));
  await service.decide('retried', 'approve');
  await run;
  expect(tries).toBe(3);
  expect((await service.events('retried')).map(({ status }) => status)).toEqual([200]);
});

test('checks arguments that middleware has changed before the tool runs', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no b',
    effect: 'deny',
    match: { tools: ['echo'] },
    condition: 'args.text == "b"',
  });
  onTestFinished(() => policies.archive(id).then(() => {}));
  const { echo, ran } = tools();
  const changing = createMiddleware({
    name: 'changing',
    wrapToolCall: (request, handler) =>
      handler({ ...request, toolCall: { ...request.toolCall, args: { text: 'b' } } }),
  });
  install({ recorder: service.guarded({ showArguments: (args) => args as Record<string, unknown> }) });
  const agent = createAgent({ model: modelOf(once), tools: [echo], middleware: [changing] });
  await agent.invoke(question, inThread('changed'));
  expect(ran).toEqual([]);
  expect((await service.events('changed')).map(({ status }) => status)).toEqual([403]);
});

test('records a call that is interrupted when it has been resumed', async () => {
  const confirm = tool(() => `said ${interrupt('sure?')}`, {
    name: 'confirm',
    description: 'Asks a person.',
    schema: z.object({}),
  });
  install({ recorder: service.recorder() });
  const agent = createAgent({
    model: modelOf([[{ name: 'confirm', args: {} }]]),
    tools: [confirm],
    checkpointer: new MemorySaver(),
  });
  await agent.invoke(question, inThread('interrupted'));
  expect(await service.events('interrupted')).toEqual([]);
  const { messages } = await agent.invoke(new Command({ resume: 'yes' }), inThread('interrupted'));
  expect(messages.some(({ text }) => text === 'said yes')).toBe(true);
  expect(await service.callLines('interrupted')).toEqual(['tester confirm 200']);
});
