import { createRequire } from 'node:module';
import { Service } from '@actlog/adapter-suite';
import { AIMessage } from '@langchain/core/messages';
import { RunnableLambda } from '@langchain/core/runnables';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { Heedless, inThread, modelOf, question, toolResultsOf, tools } from '../tests/agent.ts';

import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('records the tools of a ToolNode without changing its results', async () => {
  const { echo, fail } = tools();
  const node = new ToolNode(actlog.tools([echo, fail], { recorder: service.recorder() }));
  const calls = [
    { name: 'echo', args: { text: 'a' }, id: '1', type: 'tool_call' as const },
    { name: 'fail', args: {}, id: '2', type: 'tool_call' as const },
  ];
  const input = { messages: [new AIMessage({ content: '', tool_calls: calls })] };
  const wrapped = await node.invoke(input, inThread('node'));
  const bare = await new ToolNode([echo, fail]).invoke(input);
  expect(toolResultsOf(wrapped)).toEqual(toolResultsOf(bare));
  const events = await service.events('node');
  expect(events).toHaveLength(2);
  expect(events).toEqual(
    expect.arrayContaining([
      { sessionId: 'node', agentId: 'tester', toolName: 'echo', status: 200 },
      { sessionId: 'node', agentId: 'tester', toolName: 'fail', status: 502 },
    ]),
  );
});

test('records a runnable used as a tool, in a ToolNode and in manual calls', async () => {
  const double = RunnableLambda.from(({ of }: { of: number }) => of * 2).asTool({
    name: 'double',
    schema: z.object({ of: z.number() }),
  });
  const [wrapped] = actlog.tools([double], { recorder: service.recorder() });
  const tool_calls = [{ name: 'double', args: { of: 2 }, id: '1', type: 'tool_call' as const }];
  const input = { messages: [new AIMessage({ content: '', tool_calls })] };
  const output = await new ToolNode([wrapped]).invoke(input, inThread('runnable'));
  expect(toolResultsOf(output)).toMatchObject([{ text: '4' }]);
  expect(await wrapped.invoke({ of: 3 }, inThread('runnable'))).toBe(6);
  expect(await service.events('runnable')).toMatchObject([{ status: 200 }, { status: 200 }]);
});

test('does not take the invalid arguments of an inner tool for those of the call', async () => {
  const { echo } = tools();
  const outer = tool(({ id }: { id: number }) => echo.invoke({ id: [id] } as never), {
    name: 'outer',
    schema: z.object({ id: z.number() }),
  });
  const [wrapped] = actlog.tools([outer], { recorder: service.recorder(), sessionId: 'inner-input' });
  await expect(wrapped.invoke({ id: 7 } as never)).rejects.toThrow('did not match expected schema');
  const call = { name: 'outer', args: { id: 'x' }, id: '1', type: 'tool_call' as const };
  await new ToolNode([wrapped]).invoke({ messages: [new AIMessage({ content: '', tool_calls: [call] })] });
  const events = await service.events('inner-input');
  expect(events.map(({ toolName, status }) => [toolName, status])).toEqual([
    ['echo', 400],
    ['outer', 500],
    ['outer', 400],
  ]);
});

test('records invalid arguments for any caller', async () => {
  const { echo, ran } = tools();
  const [wrapped] = actlog.tools([echo], { recorder: service.recorder(), sessionId: 'unfit' });
  await expect(wrapped.invoke({} as { text: string })).rejects.toThrow('did not match expected schema');
  const call = { name: 'echo', args: {}, id: '1', type: 'tool_call' as const };
  await new ToolNode([wrapped]).invoke({ messages: [new AIMessage({ content: '', tool_calls: [call] })] });
  expect(ran).toEqual([]);
  expect(await service.events('unfit')).toMatchObject([{ status: 400 }, { status: 400 }]);
});

test("records a manual call and keeps the tool's type", async () => {
  const { echo } = tools();
  const [wrapped] = actlog.tools([echo], { recorder: service.recorder(), sessionId: 'by-hand' });
  expectTypeOf(wrapped).toEqualTypeOf<typeof echo>();
  expect(await wrapped.invoke({ text: 'hi' })).toBe('echo: hi');
  expect(await service.events('by-hand')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('records manual calls of a twice-wrapped tool once each, including recursive ones', async () => {
  const options = { recorder: service.recorder(), sessionId: 'twice-by-hand' };
  const countdown = tool(
    async ({ from }): Promise<string> => (from === 0 ? 'go' : await wrapped.invoke({ from: from - 1 })),
    { name: 'countdown', description: 'Counts down.', schema: z.object({ from: z.number() }) },
  );
  const [wrapped] = actlog.tools(actlog.tools([countdown], options), options);
  expect(await wrapped.invoke({ from: 0 })).toBe('go');
  expect(await service.events('twice-by-hand')).toHaveLength(1);
  expect(await wrapped.batch([{ from: 1 }, { from: 0 }])).toEqual(['go', 'go']);
  expect(await service.events('twice-by-hand')).toHaveLength(4);
});

test("uses the run's session and agent for a manual call in a node", async () => {
  const { echo } = tools();
  const [wrapped] = actlog.tools([echo], { recorder: service.recorder() });
  const config = { metadata: { lc_agent_name: 'caller' }, ...inThread('in-node') };
  await RunnableLambda.from(async () => {
    await wrapped.invoke({ text: 'a' });
    await wrapped.invoke({ text: 'b' }, { tags: ['own'], configurable: undefined } as object);
    await wrapped.invoke({ text: 'c' }, inThread('own-thread'));
  }).invoke({}, config);
  const event = { agentId: 'caller', toolName: 'echo', status: 200 };
  expect(await service.events('in-node')).toMatchObject([event, event]);
  expect(await service.events('own-thread')).toMatchObject([event]);
});

test('never runs a held manual call whose run ends', async () => {
  const { policies, guardian } = service.client;
  const { id: policyId } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['heedless'] },
  });
  const heedless = new Heedless();
  const [wrapped] = actlog.tools([heedless], { recorder: service.guarded() });
  let called: Promise<unknown> | undefined;
  const call = () => {
    called = wrapped.invoke({});
    return called;
  };
  const outer = tool(call, { name: 'outer', description: 'Calls it.', schema: z.object({}) });
  const agent = createAgent({ model: modelOf([[{ name: 'outer', args: {} }]]), tools: [outer] });
  const abort = new AbortController();
  const run = agent.invoke(question, { ...inThread('held-by-hand'), signal: abort.signal });
  const { id } = await service.held('held-by-hand');
  abort.abort();
  await expect(run).rejects.toThrow();
  await guardian.pendingActions.decide(id, { decision: 'approve' });
  await expect(called).rejects.toThrow();
  await policies.archive(policyId);
  expect(heedless.ran).toBe(0);
  expect(await service.events('held-by-hand')).toMatchObject([{ toolName: 'heedless', status: 499 }]);
});

test('throws for a denied manual call, and reports the reason to the model in an agent', async () => {
  const { echo, ran } = tools();
  const recorder = service.guarded();
  const { id } = await service.client.policies.create({
    name: 'no echo',
    effect: 'deny',
    match: { tools: ['echo'] },
    message: 'Echoing is not for today.',
  });
  const wrapped = actlog.tools([echo], { recorder, sessionId: 'denied-tool' });
  await expect(wrapped[0].invoke({ text: 'x' })).rejects.toThrow('Echoing is not for today.');
  const model = modelOf([[{ name: 'echo', args: { text: 'y' } }]]);
  const result = await createAgent({ model, tools: wrapped }).invoke(question);
  expect(toolResultsOf(result)).toMatchObject([{ status: 'error' }]);
  expect(toolResultsOf(result)[0]?.text).toContain('Echoing is not for today.');
  expect(ran).toEqual([]);
  expect(await service.events('denied-tool')).toMatchObject([{ status: 403 }, { status: 403 }]);
  await service.client.policies.archive(id);
});

async function readAll(stream: AsyncIterable<unknown>) {
  for await (const _ of stream);
}

test('records and guards manual calls in every form', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({ name: 'no echo', effect: 'deny', match: { tools: ['echo'] } });
  const { echo, ran } = tools();
  const [wrapped] = actlog.tools([echo], { recorder: service.guarded(), sessionId: 'other-ways' });
  const input = { text: 'x' };
  const ways: Record<string, () => Promise<unknown>> = {
    call: () => wrapped.call(input),
    batch: () => wrapped.batch([input]),
    stream: async () => readAll(await wrapped.stream(input)),
    events: () => readAll(wrapped.streamEvents(input, { version: 'v2' })),
    pipe: () => wrapped.pipe(String).invoke(input),
    withConfig: () => wrapped.withConfig({ tags: ['a'] }).invoke(input),
    withRetry: () => wrapped.withRetry({ stopAfterAttempt: 1 }).invoke(input),
    withListeners: () => wrapped.withListeners({}).invoke(input),
  };
  for (const [name, call] of Object.entries(ways)) await expect(call(), name).rejects.toThrow('was not run');
  expect(ran).toEqual([]);
  expect(await service.events('other-ways')).toHaveLength(Object.keys(ways).length);
  await policies.archive(id);
  expect(await wrapped.batch([input, { text: 'y' }])).toEqual(['echo: x', 'echo: y']);
  expect(ran).toEqual(['echo x', 'echo y']);
});

test('records and guards a tool of the copy of LangChain loaded by require', async () => {
  const { tool: requiredTool } = createRequire(import.meta.url)('langchain') as { tool: typeof tool };
  expect(requiredTool).not.toBe(tool);
  const options = { name: 'required', description: 'Repeats.', schema: z.object({ text: z.string() }) };
  const repeat = requiredTool(({ text }) => text, options);
  const [wrapped] = actlog.tools([repeat], { recorder: service.recorder(), sessionId: 'required' });
  expect(await wrapped.batch([{ text: 'a' }, { text: 'b' }])).toEqual(['a', 'b']);
  expect(await wrapped.pipe(String).invoke({ text: 'c' })).toBe('c');
  await readAll(await wrapped.stream({ text: 'd' }));
  expect(await wrapped.withRetry({ stopAfterAttempt: 1 }).invoke({ text: 'e' })).toBe('e');
  expect(await service.events('required')).toHaveLength(5);
});

test('returns excluded tools unchanged', () => {
  const { echo, fail } = tools();
  const [same, other] = actlog.tools([echo, fail], { recorder: service.recorder(), include: ['fail'] });
  expect(same).toBe(echo);
  expect(other).not.toBe(fail);
});
