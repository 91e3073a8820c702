import { Service } from '@actlog/adapter-suite';
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { Command, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { createAgent, createMiddleware, tool } from 'langchain';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Returns the origins of the argument `text` of the calls of `echo`. */
async function originsOf(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'echo');
  return reported.map(({ origins }) => origins.text);
}

function traced() {
  return service.recorder({ origins: true });
}

const sayAccount = [{ name: 'echo', args: { text: 'DE89370400440532013000' } }];
const text = 'Please pay DE89370400440532013000 today.';

test('sees the text parts of a message, and what the user wrote in a message before', async () => {
  const { echo } = tools();
  const model = modelOf([sayAccount]);
  const agent = createAgent({ model, tools: [echo], middleware: [actlog({ recorder: traced() })] });
  const parts = [
    { type: 'image_url', image_url: 'https://pictures.example/1' },
    { type: 'text', text },
  ];
  const messages = [new HumanMessage({ content: parts }), new HumanMessage('go on')];
  await agent.invoke({ messages }, inThread('parts'));
  expect(await originsOf('parts')).toEqual([{ from: 'user' }]);
});

test('does not take a summary, written by a model, for a message of the user', async () => {
  const { echo } = tools();
  const summary = new HumanMessage({ content: text, additional_kwargs: { lc_source: 'summarization' } });
  const middleware = [actlog({ recorder: traced() })];
  const agent = createAgent({ model: modelOf([sayAccount]), tools: [echo], middleware });
  await agent.invoke({ messages: [summary, new HumanMessage('go on')] }, inThread('summary'));
  expect(await originsOf('summary')).toEqual([{ from: 'model' }]);
});

test.each(['middleware', 'handler'] as const)(
  'by the %s, does not take the prompt of an inner agent for a text of the user',
  async (hook) => {
    const { echo } = tools();
    const recorder = traced();
    const middleware = hook === 'middleware' ? [actlog({ recorder })] : [];
    const inner = createAgent({ model: modelOf([sayAccount]), tools: [echo], middleware });
    const ask = tool(
      async () => (await inner.invoke({ messages: [new HumanMessage(text)] })).messages.length,
      {
        name: 'ask',
        description: 'Asks the inner agent.',
        schema: z.object({}),
      },
    );
    const outer = createAgent({ model: modelOf([[{ name: 'ask', args: {} }]]), tools: [ask], middleware });
    const callbacks = hook === 'handler' ? [actlog.handler({ recorder })] : [];
    await outer.invoke(question, { ...inThread(`inner-${hook}`), callbacks });
    expect(await originsOf(`inner-${hook}`)).toEqual([{ from: 'model' }]);
  },
);

test('by the handler, sees the input of the run, the system prompt and results', async () => {
  const { echo } = tools();
  const read = tool(() => ({ owner: 'kim', address: 'kim.oduya@payments.example' }), {
    name: 'read',
    description: 'Reads.',
    schema: z.object({}),
  });
  const model = modelOf([
    [{ name: 'read', args: {} }],
    sayAccount,
    [{ name: 'echo', args: { text: 'treasury@northwind.example' } }],
    [{ name: 'echo', args: { text: 'kim.oduya@payments.example' } }],
    [{ name: 'echo', args: { text: 'someone.else@payments.example' } }],
  ]);
  const agent = createAgent({
    model,
    tools: [echo, read],
    systemPrompt: 'Questions go to treasury@northwind.example.',
  });
  const callbacks = [actlog.handler({ recorder: traced() })];
  await agent.invoke({ messages: [{ role: 'user', content: text }] }, { ...inThread('handler'), callbacks });
  expect(await originsOf('handler')).toEqual([
    { from: 'user' },
    { from: 'system' },
    { from: 'tool', as: 'field', toolName: 'read', eventId: expect.any(String) },
    { from: 'model' },
  ]);
});

test('by the handler, ignores the system prompt of a model inside a tool', async () => {
  const { echo } = tools();
  const summarize = tool(
    async () => {
      await modelOf([]).invoke([new SystemMessage(`Summarize: ${text}`), new HumanMessage(text)]);
      return 'Nothing new.';
    },
    { name: 'summarize', description: 'Summarizes.', schema: z.object({}) },
  );
  const model = modelOf([[{ name: 'summarize', args: {} }], sayAccount]);
  const callbacks = [actlog.handler({ recorder: traced() })];
  const agent = createAgent({ model, tools: [echo, summarize] });
  await agent.invoke(question, { ...inThread('summarize'), callbacks });
  expect(await originsOf('summarize')).toEqual([{ from: 'model' }]);
});

test.each([
  ['a value', () => ({ address: 'kim.oduya@payments.example' })],
  [
    'blocks of content',
    () => [{ type: 'text', text: JSON.stringify({ address: 'kim.oduya@payments.example' }) }],
  ],
  [
    'a command',
    (toolCallId: string) =>
      new Command({
        update: {
          messages: [
            new ToolMessage({
              content: '{"address":"kim.oduya@payments.example"}',
              tool_call_id: toolCallId,
            }),
          ],
        },
      }),
  ],
])('finds a field in a result that the tool returns as %s', async (title, result) => {
  const { echo } = tools();
  const read = tool((_args, { toolCall }) => result(String(toolCall?.id)) as never, {
    name: 'read',
    description: 'Reads.',
    schema: z.object({}),
  });
  const model = modelOf([
    [{ name: 'read', args: {}, id: 'first' }],
    [{ name: 'echo', args: { text: 'kim.oduya@payments.example' } }],
  ]);
  const middleware = [actlog({ recorder: traced() })];
  await createAgent({ model, tools: [echo, read], middleware }).invoke(question, inThread(title));
  expect(await originsOf(title)).toMatchObject([{ from: 'tool', as: 'field', toolName: 'read' }]);
});

test('wrapped tools alone see results, and no texts', async () => {
  const { echo } = tools();
  const model = modelOf([sayAccount, [{ name: 'echo', args: { text: 'echo' } }]]);
  const agent = createAgent({ model, tools: actlog.tools([echo], { recorder: traced() }) });
  await agent.invoke({ messages: [new HumanMessage(text)] }, inThread('tools'));
  expect(await originsOf('tools')).toMatchObject([{ from: 'model' }, { from: 'tool', as: 'text' }]);
});

test('adds no hook of model calls while origins are off', () => {
  expect(actlog({ recorder: service.recorder() }).wrapModelCall).toBeUndefined();
  expect(actlog({ recorder: traced() }).wrapModelCall).toBeTypeOf('function');
});

test('leaves the agent alone when the messages cannot be read', async () => {
  const { echo } = tools();
  const hooks = actlog({ recorder: traced() });
  const unreadable = Object.defineProperty(new HumanMessage(text), 'type', {
    get: () => {
      throw new Error('unreadable');
    },
  });
  const spoiled = createMiddleware({
    name: 'spoiled',
    wrapToolCall: (request, handler) =>
      handler({ ...request, state: { ...request.state, messages: [unreadable] } }),
  });
  const agent = createAgent({
    model: modelOf([sayAccount]),
    tools: [echo],
    middleware: [spoiled, hooks],
  });
  const { messages } = await agent.invoke(question, inThread('unreadable'));
  expect(messages.at(-1)?.text).toBe('done');
  expect(await service.events('unreadable')).toHaveLength(1);
});

test.each([
  ['a node wrote', 'Please pay.', [{ from: 'model' }]],
  ['the user wrote', text, [{ from: 'user' }]],
])('in a graph within another, traces what %s', async (who, given, from) => {
  const { echo } = tools();
  onTestFinished(actlog.install({ recorder: traced() }));
  const agent = createAgent({ model: modelOf([sayAccount]), tools: [echo] });
  const node = async () => ({
    messages: (await agent.invoke({ messages: [new HumanMessage(text)] })).messages,
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('node', node)
    .addEdge('__start__', 'node')
    .compile();
  await graph.invoke({ messages: [['user', given]] as never }, inThread(who));
  expect(await originsOf(who)).toEqual(from);
});
