import { Service } from '@actlog/adapter-suite';
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatPromptTemplate, MessagesPlaceholder } from '@langchain/core/prompts';
import {
  addMessages,
  END,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Turns, tools } from '../tests/agent.ts';
import { install } from '../tests/process-coverage.ts';
import { recordedSessions } from '../tests/recorded-sessions.ts';
import { StreamingModel } from '../tests/streaming-model.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

type Messages = BaseMessage[];
type Echo = ReturnType<typeof tools>['echo'];
type Requested = NonNullable<AIMessage['tool_calls']>[number];

/** Runs one turn of a chat, and returns all of its messages. */
type Turn = (messages: Messages) => Promise<Messages>;

/** Runs a call as a program does: with its id, or with only its arguments. */
type Run = (echo: Echo, call: Requested) => Promise<ToolMessage>;

const withCall: Run = async (echo, call) =>
  (await echo.invoke({ ...call, type: 'tool_call' })) as ToolMessage;
const withArguments: Run = async (echo, { id = '', args }) =>
  new ToolMessage({ content: String(await echo.invoke(args as { text: string })), tool_call_id: id });

/** Asks the model for its next message. */
type Ask = (model: StreamingModel, messages: Messages) => Promise<AIMessage | AIMessageChunk>;

const prompt = ChatPromptTemplate.fromMessages([['system', 'Be kind.'], new MessagesPlaceholder('messages')]);

async function gathered(stream: Promise<AsyncIterable<AIMessageChunk>>): Promise<AIMessageChunk> {
  let all: AIMessageChunk | undefined;
  for await (const chunk of await stream) all = all ? all.concat(chunk) : chunk;
  return all as AIMessageChunk;
}

const asks: Record<string, Ask> = {
  invoke: (model, messages) => model.invoke(messages),
  stream: (model, messages) => gathered(model.stream(messages)),
  'a prompt': (model, messages) => prompt.pipe(model).invoke({ messages }),
  'a streamed prompt': (model, messages) => gathered(prompt.pipe(model).stream({ messages })),
};

function loop(model: StreamingModel, echo: Echo, ask: Ask, run: Run): Turn {
  return async (given) => {
    const messages = [...given];
    for (;;) {
      const response = await ask(model, messages);
      messages.push(response);
      if (!response.tool_calls?.length) return messages;
      for (const call of response.tool_calls) messages.push(await run(echo, call));
    }
  };
}

function graph(model: StreamingModel, echo: Echo, run: Run): Turn {
  const last = ({ messages }: typeof MessagesAnnotation.State) => messages.at(-1) as AIMessage;
  const compiled = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('run', async (state) => ({
      messages: await Promise.all((last(state).tool_calls ?? []).map((call) => run(echo, call))),
    }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', (state) => (last(state).tool_calls?.length ? 'run' : END), ['run', END])
    .addEdge('run', 'model')
    .compile();
  return async (messages) => (await compiled.invoke({ messages })).messages;
}

function workflow(model: StreamingModel, echo: Echo, run: Run): Turn {
  const ask = task('ask', async (messages: Messages) => model.invoke(messages));
  const call = task('call', async (requested: Requested) => run(echo, requested));
  const compiled = entrypoint('workflow', async (given: Messages) => {
    let messages = given;
    for (;;) {
      const response = await ask(messages);
      messages = addMessages(messages, [response]);
      if (!response.tool_calls?.length) return messages;
      messages = addMessages(messages, await Promise.all(response.tool_calls.map((one) => call(one))));
    }
  });
  return async (messages) => compiled.invoke(messages);
}

function streamedEvents(model: StreamingModel, echo: Echo): Turn {
  const agent = createAgent({ model, tools: [echo] });
  return async (messages) => {
    let result: { messages: Messages } | undefined;
    for await (const { event, data } of agent.streamEvents({ messages }, { version: 'v2' })) {
      if (event === 'on_chain_end' && data.output?.messages) result = data.output;
    }
    return result?.messages ?? [];
  };
}

type Shape = (model: StreamingModel, echo: Echo) => Turn;

const runs: [string, Run][] = [
  ['with the call', withCall],
  ['with its arguments', withArguments],
];
const shapes = runs.flatMap(([how, run]): [string, Shape][] => [
  ...Object.entries(asks).map(([name, ask]): [string, Shape] => [
    `a loop with ${name}, ${how}`,
    (model, echo) => loop(model, echo, ask, run),
  ]),
  [`a graph, ${how}`, (model, echo) => graph(model, echo, run)],
  [`a workflow of functions, ${how}`, (model, echo) => workflow(model, echo, run)],
]);

/** Returns messages as an application keeps them between two turns. */
const stores: Record<string, (messages: Messages) => Messages> = {
  kept: (messages) => messages,
  'stored as JSON': (messages) => JSON.parse(JSON.stringify(messages)) as Messages,
};

test.each(
  [...shapes, ['an agent whose events are streamed', streamedEvents] as [string, Shape]].flatMap(
    ([name, shape]) => Object.entries(stores).map(([how, store]) => [name, how, shape, store] as const),
  ),
)('uses one session for each chat of %s, with messages %s', async (name, how, shape, store) => {
  const agentId = `${name} ${how}`.replaceAll(/\W+/g, '-');
  const { echo } = tools();
  install({ recorder: service.recorder(), agentId });
  const turns: Turns = Array.from({ length: 4 }, () => [{ name: 'echo', args: { text: 'x' } }]);
  const turn = shape(new StreamingModel(turns), echo);
  let messages: Messages = [];
  for (const text of ['one', 'two', 'three']) {
    messages = store(await turn([...messages, new HumanMessage(text)]));
  }
  await turn([new HumanMessage('one')]);
  const call = `${agentId} echo 200`;
  expect(await recordedSessions(service, agentId)).toEqual([[call], [call, call, call]]);
});

test('keeps two loops apart that request the same call at once, by its arguments', async () => {
  const { echo } = tools();
  install({ recorder: service.recorder(), agentId: 'at-once' });
  const model = new StreamingModel(Array.from({ length: 2 }, () => [{ name: 'echo', args: { text: 'x' } }]));
  const ask = async () => (await gathered(model.stream([new HumanMessage('go')]))).tool_calls?.[0]?.args;
  const first = await ask();
  await ask(); // the end of the first turn
  const second = await ask();
  for (const args of [first, second]) await echo.invoke(args as { text: string });
  expect(await recordedSessions(service, 'at-once')).toEqual([['at-once echo 200'], ['at-once echo 200']]);
});

test('takes the run id that a caller chose for streamed events as the session', async () => {
  const { echo } = tools();
  install({ recorder: service.recorder(), agentId: 'own-run' });
  const agent = createAgent({
    model: new StreamingModel([[{ name: 'echo', args: { text: 'x' } }]]),
    tools: [echo],
  });
  const runId = '0199c3e2-0000-7000-8000-000000000001';
  const options = { version: 'v2' as const, runId };
  for await (const _ of agent.streamEvents({ messages: [new HumanMessage('go')] }, options));
  expect(await service.callLines(runId)).toEqual(['own-run echo 200']);
});
