import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { Service } from '@actlog/adapter-suite';
import { ActionDeniedError, hashArguments } from '@actlog/recorder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AgentNetwork,
  answering,
  dataPart,
  executorOf,
  newMessage,
  publishState,
  publishTask,
  requestOf,
  textPart,
} from '../tests/agents.ts';
import { listen, transports } from '../tests/http-agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Connects a client in this process with an agent named `recipes`. */
async function connect(executor: AgentExecutor) {
  const network = new AgentNetwork();
  network.add('recipes', executor);
  return network.connect('recipes');
}

function ask(contextId: string, text = 'What is in a pancake?') {
  return requestOf(newMessage([textPart(text)], { contextId }));
}

/** Creates an executor that leaves its task in a state. */
function endingAs(state: TaskState): AgentExecutor {
  return executorOf(async (context, bus) => {
    publishTask(context, bus, TaskState.TASK_STATE_SUBMITTED);
    publishState(context, bus, state);
  });
}

const cook = answering(async () => 'Flour, eggs, milk.');

test.each([
  ['TASK_STATE_COMPLETED', 200],
  ['TASK_STATE_WORKING', 202],
  ['TASK_STATE_SUBMITTED', 202],
  ['TASK_STATE_INPUT_REQUIRED', 202],
  ['TASK_STATE_AUTH_REQUIRED', 401],
  ['TASK_STATE_REJECTED', 403],
  ['TASK_STATE_CANCELED', 499],
  ['TASK_STATE_FAILED', 500],
] as const)('records a task that ends as %s with status %d', async (state, status) => {
  const executor = endingAs(TaskState[state]);
  const recorder = service.recorder();
  const client = actlog(await connect(executor), { recorder });
  const request = ask(`sent ${state}`);
  const returnImmediately = state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING';
  await client.sendMessage({
    ...request,
    configuration: { acceptedOutputModes: [], returnImmediately, taskPushNotificationConfig: undefined },
  });
  for await (const { payload } of client.sendMessageStream(ask(`streamed ${state}`))) {
    // The server keeps the stream of a task that waits for authentication open.
    if (payload?.$case === 'statusUpdate') break;
  }
  for (const kind of ['sent', 'streamed']) {
    expect(await service.callLines(`${kind} ${state}`)).toEqual([`tester recipes ${status}`]);
  }
});

test('records a message as response with status 200', async () => {
  const executor = executorOf(async ({ contextId }, bus) => {
    bus.publish({ kind: 'message', data: newMessage([textPart('Flour.')], { contextId, role: 2 }) });
  });
  const client = actlog(await connect(executor), { recorder: service.recorder() });
  const response = await client.sendMessage(ask('message'));
  expect(response).toMatchObject({ parts: [{ content: { value: 'Flour.' } }] });
  expect(await service.callLines('message')).toEqual(['tester recipes 200']);
});

test('records every part of a message, under a hash that does not depend on its id', async () => {
  const client = actlog(await connect(cook), { recorder: service.recorder() });
  const file = { content: { $case: 'url', value: 'https://x.example/menu.pdf' } as const };
  const parts = [
    textPart('one'),
    dataPart({ servings: 4 }),
    textPart('two'),
    { ...file, metadata: undefined, filename: 'menu.pdf', mediaType: 'application/pdf' },
  ];
  const metadata = { diet: 'vegan' };
  for (let time = 0; time < 2; time += 1) {
    await client.sendMessage(requestOf(newMessage(parts, { contextId: 'parts', metadata })));
  }
  const expected = await hashArguments({
    text: 'one\ntwo',
    data: [{ servings: 4 }],
    files: [{ url: 'https://x.example/menu.pdf', filename: 'menu.pdf', mediaType: 'application/pdf' }],
    metadata,
  });
  const events = await service.storedEvents('parts');
  expect(events.map(({ payload }) => payload?.argumentsHash)).toEqual([expected, expected]);
});

test.each(transports)('does not send a denied message over %s, and throws', async (transport) => {
  const { id } = await service.denyTool('recipes', 'No cooking.');
  let received = 0;
  const agent = await listen(
    answering(async () => String(++received)),
    transport,
  );
  try {
    const client = actlog(await agent.connect(), { recorder: service.guarded() });
    const sessionId = `denied ${transport}`;
    const error: unknown = await client.sendMessage(ask(sessionId)).catch((thrown: unknown) => thrown);
    expect(ActionDeniedError.isInstance(error)).toBe(true);
    expect(String(error)).toContain('No cooking.');
    const stream = client.sendMessageStream(ask(sessionId));
    await expect(stream.next()).rejects.toThrow('No cooking.');
    expect(received).toBe(0);
    expect(await service.callLines(sessionId)).toEqual(['tester recipes 403', 'tester recipes 403']);
  } finally {
    await service.client.policies.archive(id);
    await agent.close();
  }
});

test.each(transports)('holds a message over %s until it is approved', async (transport) => {
  const { id } = await service.holdTool('recipes');
  const agent = await listen(cook, transport);
  try {
    const client = actlog(await agent.connect(), { recorder: service.guarded() });
    const sessionId = `held ${transport}`;
    const texts: string[] = [];
    const reading = (async () => {
      for await (const { payload } of client.sendMessageStream(ask(sessionId)))
        texts.push(payload?.$case ?? '');
    })();
    await service.held(sessionId);
    expect(texts).toEqual([]);
    await service.decide(sessionId, 'approve');
    await reading;
    expect(texts).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect(await service.callLines(sessionId)).toEqual(['tester recipes 200']);
  } finally {
    await service.client.policies.archive(id);
    await agent.close();
  }
});

test('passes on errors of the agent, and records their status', async () => {
  const client = actlog(await connect(cook), { recorder: service.recorder() });
  const message = newMessage([textPart('x')], { contextId: 'errors', taskId: 'no-such-task' });
  await expect(client.sendMessage(requestOf(message))).rejects.toThrow('Task not found');
  await expect(client.sendMessageStream(requestOf(message)).next()).rejects.toThrow();
  const unnamed = newMessage([textPart('x')], { contextId: 'errors', messageId: '' });
  await expect(client.sendMessage(requestOf(unnamed))).rejects.toThrow('messageId');
  expect(await service.callLines('errors')).toEqual([
    'tester recipes 404',
    'tester recipes 404',
    'tester recipes 400',
  ]);
});

test.each(transports)('records the HTTP status of a server that says no more, over %s', async (transport) => {
  const agent = await listen(cook, transport, 401);
  try {
    const client = actlog(await agent.connect(), { recorder: service.recorder() });
    await expect(client.sendMessage(ask(`HTTP ${transport}`))).rejects.toThrow();
    await expect(client.sendMessageStream(ask(`HTTP ${transport}`)).next()).rejects.toThrow();
    const line = 'tester recipes 401';
    expect(await service.callLines(`HTTP ${transport}`)).toEqual([line, line]);
  } finally {
    await agent.close();
  }
});

test('a conversation without a context is one session, apart from other conversations', async () => {
  const agentId = 'conversing';
  const recorder = service.recorder({ agentId });
  const client = actlog(await connect(cook), { recorder });
  for (let chat = 0; chat < 2; chat += 1) {
    const first = await client.sendMessage(ask(''));
    await client.sendMessage(ask(first.contextId, 'And how much?'));
  }
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('a message that continues a task without its context is in the session of the task', async () => {
  const agentId = 'continuing';
  const recorder = service.recorder({ agentId });
  const client = actlog(await connect(endingAs(TaskState.TASK_STATE_INPUT_REQUIRED)), { recorder });
  const task = await client.sendMessage(ask(''));
  const taskId = 'id' in task ? task.id : '';
  await client.sendMessage(requestOf(newMessage([textPart('Two eggs.')], { taskId })));
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2]);
});

test('the session around a call takes precedence over the context', async () => {
  const recorder = service.recorder();
  const client = actlog(await connect(cook), { recorder });
  await recorder.session('around').run(() => client.sendMessage(ask('context of the agents')));
  expect(await service.callLines('around')).toEqual(['tester recipes 200']);
  expect(await service.callLines('context of the agents')).toEqual([]);
});

test('records a stream by its last state when the reader leaves', async () => {
  const executor = executorOf(async (context, bus) => {
    publishTask(context, bus, TaskState.TASK_STATE_SUBMITTED);
    publishState(context, bus, TaskState.TASK_STATE_WORKING);
    publishState(context, bus, TaskState.TASK_STATE_COMPLETED);
  });
  const client = actlog(await connect(executor), { recorder: service.recorder() });
  for await (const _ of client.sendMessageStream(ask('left'))) break;
  expect(await service.callLines('left')).toEqual(['tester recipes 202']);
});

test('records a final state before the reader asks for more', async () => {
  const client = actlog(await connect(cook), { recorder: service.recorder() });
  const stream = client.sendMessageStream(ask('read to the end'));
  for (let update = 0; update < 3; update += 1) await stream.next();
  expect(await service.callLines('read to the end')).toEqual(['tester recipes 200']);
  await stream.return();
});

test('records nothing for a stream that is never read, and for a response of an interceptor', async () => {
  const network = new AgentNetwork();
  network.add('recipes', cook);
  const cached = newMessage([textPart('Flour.')], { role: 2 });
  const client = await network.connect('recipes', [
    {
      before: async (args) => {
        args.earlyReturn = { method: 'sendMessage', value: cached };
      },
      after: async () => {},
    },
  ]);
  actlog(client, { recorder: service.recorder() });
  client.sendMessageStream(ask('unread'));
  expect(await client.sendMessage(ask('unread'))).toBe(cached);
  expect(await service.callLines('unread')).toEqual([]);
});

test('names the agent as its card does, or as the option says', async () => {
  const client = actlog(await connect(cook), { recorder: service.recorder() });
  await client.sendMessage(ask('named'));
  const named = actlog(await connect(cook), { recorder: service.recorder(), name: 'cook' });
  await named.sendMessage(ask('named'));
  expect(await service.callLines('named')).toEqual(['tester recipes 200', 'tester cook 200']);
});

test('leaves reading and canceling of tasks alone', async () => {
  const client = actlog(await connect(cook), { recorder: service.recorder() });
  const task = await client.sendMessage(ask('reading'));
  const id = 'id' in task ? task.id : '';
  expect(await client.getTask({ tenant: '', id })).toMatchObject({ id });
  await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow('not cancelable');
  expect(client.protocolVersion).toBe('1.0');
  expect(await service.callLines('reading')).toEqual(['tester recipes 200']);
});

test('refuses what is neither a client nor an executor, and invalid options', async () => {
  expect(() => actlog({ guard: { mode: 'enforce', onUnavailable: 'deny' } } as never)).toThrow(
    /^guard has no effect in the first argument: .*actlog\(client, \{ guard \}\)/,
  );
  expect(() => actlog({ publish() {} } as never)).toThrow('target must be a Client');
  const client = await connect(cook);
  expect(() => actlog(client, { name: '' })).toThrow('name must be a non-empty string');
  expect(() => actlog(client, { agentName: 'x' } as never)).toThrow('"agentName" is not an option');
});
