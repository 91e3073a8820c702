import { Service } from '@actlog/adapter-suite';
import { InMemoryChatMessageHistory } from '@langchain/core/chat_history';
import {
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
} from '@langchain/core/messages';
import { RunnableLambda, RunnableWithMessageHistory } from '@langchain/core/runnables';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { modelOf, question, sharedModelOf, tools } from '../tests/agent.ts';
import { recordedSessions } from '../tests/recorded-sessions.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Returns messages as they come back from a store of the application. */
function rebuilt(messages: BaseMessage[]): BaseMessage[] {
  return mapStoredMessagesToChatMessages(
    JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(messages))),
  );
}

function agentOf(name: string) {
  const model = sharedModelOf([[{ name: 'echo', args: { text: 'a' } }]]);
  return createAgent({ name, model, tools: [tools().echo] });
}

/** Creates a graph of two agents that share its messages. */
function sharing(names: readonly [string, string]) {
  const [first, second] = names.map((name) => agentOf(name).graph as never);
  return new StateGraph(MessagesAnnotation)
    .addNode(names[0], first as never)
    .addNode(names[1], second as never)
    .addEdge(START, names[0])
    .addEdge(names[0], names[1])
    .compile();
}

/** Creates a graph of two agents at once, which are told something else than the user wrote. */
function telling(names: readonly [string, string]) {
  const nodes = names.map((name) => async () => {
    const { messages } = await agentOf(name).invoke({ messages: [new HumanMessage(`Go, ${name}.`)] });
    return { messages };
  });
  return new StateGraph(MessagesAnnotation)
    .addNode(names[0], nodes[0] as never)
    .addNode(names[1], nodes[1] as never)
    .addEdge(START, names[0])
    .addEdge(START, names[1])
    .compile();
}

test.each([
  ['share its messages', sharing],
  ['have messages of their own', telling],
])('a chat of agents that %s is one session when its messages are rebuilt', async (how, graphOf) => {
  onTestFinished(actlog.install({ recorder: service.recorder() }));
  const names = [`first ${how}`, `second ${how}`] as const;
  const { messages } = await graphOf(names).invoke(question);
  await graphOf(names).invoke({ messages: [...rebuilt(messages), new HumanMessage('And now?')] });
  const calls = names.flatMap((name) => [`${name} echo 200`, `${name} echo 200`]);
  expect(await recordedSessions(service, names[0])).toEqual([calls]);
  expect(await recordedSessions(service, names[1])).toEqual([calls]);
});

test('turns of a `RunnableWithMessageHistory` are in its session', async () => {
  const recorder = service.recorder();
  const stored = new Map<string, InMemoryChatMessageHistory>();
  const chat = new RunnableWithMessageHistory({
    runnable: RunnableLambda.from(async (messages: BaseMessage[], config) => {
      const model = modelOf([[{ name: 'echo', args: { text: 'a' } }]]);
      const agent = createAgent({ model, tools: [tools().echo], middleware: [actlog({ recorder })] });
      return (await agent.invoke({ messages }, config)).messages.slice(-1);
    }),
    getMessageHistory: (id: string) => {
      const history = stored.get(id) ?? new InMemoryChatMessageHistory();
      stored.set(id, history);
      return history;
    },
  });
  for (const text of ['one', 'two']) {
    await chat.invoke([new HumanMessage(text)], { configurable: { sessionId: 'with-history' } });
  }
  expect(await service.events('with-history')).toHaveLength(2);
});

test('runs of a graph with the same input object are sessions of their own', async () => {
  onTestFinished(actlog.install({ recorder: service.recorder() }));
  const run = ['one echo 200', 'other echo 200'];
  await telling(['one', 'other']).invoke(question);
  await telling(['one', 'other']).invoke(question);
  expect(await recordedSessions(service, 'one')).toEqual([run, run]);
});

test('a chat that keeps only its texts is one session while its messages are the same objects', async () => {
  onTestFinished(actlog.install({ recorder: service.recorder() }));
  const greeting = { role: 'assistant', content: 'How can I help?' };
  const chats: { role: string; content: string }[][] = [[greeting], [greeting]];
  for (const content of ['go', 'go on']) {
    for (const messages of chats) {
      messages.push({ role: 'user', content });
      const result = await agentOf('texts').invoke({ messages });
      messages.push({ role: 'assistant', content: result.messages.at(-1)?.text ?? '' });
    }
  }
  const calls = ['texts echo 200', 'texts echo 200'];
  expect(await recordedSessions(service, 'texts')).toEqual([calls, calls]);
});

/** Runs a turn of a chat in a loop without a graph, and returns all messages. */
async function loopTurn(earlier: BaseMessage[], text: string): Promise<BaseMessage[]> {
  const { echo } = tools();
  const model = sharedModelOf([[{ name: 'echo', args: { text } }]]);
  const messages = [...earlier, new HumanMessage(text)];
  for (;;) {
    const response = await model.invoke(messages);
    messages.push(response);
    if (!response.tool_calls?.length) return messages;
    for (const call of response.tool_calls) messages.push(await echo.invoke({ ...call, type: 'tool_call' }));
  }
}

test('chats in a loop without a graph are sessions of their own', async () => {
  onTestFinished(actlog.install({ recorder: service.recorder(), agentId: 'looper' }));
  const chat = async (name: string) => loopTurn(rebuilt(await loopTurn([], `${name} 1`)), `${name} 2`);
  await Promise.all([chat('one'), chat('other')]);
  const calls = ['looper echo 200', 'looper echo 200'];
  expect(await recordedSessions(service, 'looper')).toEqual([calls, calls]);
});
