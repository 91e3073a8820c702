import { TaskState } from '@a2a-js/sdk';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { Service } from '@actlog/adapter-suite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  AgentNetwork,
  answering,
  cardOf,
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

// The SDK writes the error of an executor there.
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

function ask(contextId: string, fields: object = {}) {
  return requestOf(newMessage([textPart('What is in a pancake?')], { contextId, ...fields }));
}

async function connect(executor: AgentExecutor) {
  const network = new AgentNetwork();
  network.add('recipes', executor);
  return network.connect('recipes');
}

const cook = () => answering(async () => 'Flour, eggs, milk.');

test.each(transports)('records a message over %s in the session of its context', async (transport) => {
  const agent = await listen(actlog(cook(), { recorder: service.recorder() }), transport);
  try {
    const client = await agent.connect();
    await client.sendMessage(ask(`plain ${transport}`));
    for await (const _ of client.sendMessageStream(ask(`plain ${transport}`)));
    expect(await service.callLines(`plain ${transport}`)).toEqual([
      'tester receive_message 200',
      'tester receive_message 200',
    ]);
  } finally {
    await agent.close();
  }
});

test.each(transports)('rejects the task of a denied message over %s, with the reason', async (transport) => {
  const { id } = await service.denyTool('receive_message', 'Closed today.');
  let received = 0;
  const executor = answering(async () => String(++received));
  const agent = await listen(actlog(executor, { recorder: service.guarded() }), transport);
  try {
    const client = await agent.connect();
    const task = await client.sendMessage(ask(`denied ${transport}`));
    expect(task).toMatchObject({
      status: {
        state: TaskState.TASK_STATE_REJECTED,
        message: { parts: [{ content: { value: expect.stringContaining('Closed today.') } }] },
      },
    });
    const states: unknown[] = [];
    for await (const { payload } of client.sendMessageStream(ask(`denied ${transport}`))) {
      if (payload?.$case === 'task' || payload?.$case === 'statusUpdate')
        states.push(payload.value.status?.state);
    }
    expect(new Set(states)).toEqual(new Set([TaskState.TASK_STATE_REJECTED]));
    expect(received).toBe(0);
    expect(await service.callLines(`denied ${transport}`)).toEqual([
      'tester receive_message 403',
      'tester receive_message 403',
    ]);
  } finally {
    await service.client.policies.archive(id);
    await agent.close();
  }
});

test('passes a held message to the agent once it is approved', async () => {
  const { id } = await service.holdTool('receive_message');
  try {
    const client = await connect(actlog(cook(), { recorder: service.guarded() }));
    const sent = client.sendMessage(ask('held'));
    await service.decide('held', 'approve');
    expect(await sent).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(await service.callLines('held')).toEqual(['tester receive_message 200']);
  } finally {
    await service.client.policies.archive(id);
  }
});

test('does not pass held messages of a task to the agent when the task is canceled', async () => {
  const heard: string[] = [];
  const given: AgentExecutor = {
    async execute(context, bus) {
      heard.push('execute');
      publishTask(context, bus, TaskState.TASK_STATE_SUBMITTED);
      publishState(context, bus, TaskState.TASK_STATE_INPUT_REQUIRED);
    },
    async cancelTask() {
      heard.push('cancelTask');
    },
  };
  const executor = actlog(given, { recorder: service.guarded() });
  const client = await connect(executor);
  const task = await client.sendMessage(ask('canceled'));
  const taskId = 'id' in task ? task.id : '';
  const { id } = await service.holdTool('receive_message');
  try {
    const sent = [1, 2].map(() => client.sendMessage(ask('canceled', { taskId })));
    const { pendingActions } = service.client.guardian;
    const held = () => pendingActions.list({ sessionId: 'canceled' }).toArray({ limit: 3 });
    await expect.poll(held, { timeout: 20_000 }).toHaveLength(2);
    const canceled = await client.cancelTask({ tenant: '', id: taskId, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    for (const response of await Promise.all(sent)) {
      expect(response).toMatchObject({ status: { state: TaskState.TASK_STATE_CANCELED } });
    }
    expect(heard).toEqual(['execute']);
    expect(await service.callLines('canceled')).toEqual([
      'tester receive_message 202',
      'tester receive_message 499',
      'tester receive_message 499',
    ]);
  } finally {
    await service.client.policies.archive(id);
  }
});

test('records a running task that is canceled with status 499', async () => {
  const canceled = Promise.withResolvers<void>();
  const executor: AgentExecutor = {
    async execute(context, bus) {
      publishTask(context, bus, TaskState.TASK_STATE_WORKING);
      await canceled.promise;
      publishState(context, bus, TaskState.TASK_STATE_CANCELED);
    },
    async cancelTask() {
      canceled.resolve();
    },
  };
  const client = await connect(actlog(executor, { recorder: service.recorder() }));
  const stream = client.sendMessageStream(ask('stopped'));
  const first = await stream.next();
  const task = first.value?.payload?.$case === 'task' ? first.value.payload.value : undefined;
  await client.cancelTask({ tenant: '', id: task?.id ?? '', metadata: undefined });
  for await (const _ of stream);
  expect(await service.callLines('stopped')).toEqual(['tester receive_message 499']);
});

test('records the error of an executor, and a message without a response, as failures', async () => {
  const failing = executorOf(async () => {
    throw Object.assign(new Error('no stove'), { status: 503 });
  });
  const recorder = service.recorder();
  const client = await connect(actlog(failing, { recorder }));
  expect(await client.sendMessage(ask('failing'))).toMatchObject({
    status: { state: TaskState.TASK_STATE_FAILED },
  });
  const silent = await connect(
    actlog(
      executorOf(async () => {}),
      { recorder },
    ),
  );
  await expect(silent.sendMessage(ask('failing'))).rejects.toThrow('without a result');
  expect(await service.callLines('failing')).toEqual([
    'tester receive_message 503',
    'tester receive_message 500',
  ]);
});

test('tools of the agent are in the session of the message, and its name can be set', async () => {
  const recorder = service.recorder({ agentId: 'cook' });
  const tools = recorder.instrument({ look_up: async (_: { dish: string }) => 'Flour.' });
  const executor = answering((dish) => tools.look_up({ dish }));
  const client = await connect(actlog(executor, { recorder, name: 'recipes' }));
  await client.sendMessage(ask('tools'));
  expect(await service.callLines('tools')).toEqual(['cook look_up 200', 'cook recipes 200']);
});

test.each(transports)(
  'records in the session of a caller in the same service, over %s',
  async (transport) => {
    const cookRecorder = service.recorder({ agentId: 'cook' });
    const waiter = service.recorder({ agentId: 'waiter' });
    const agent = await listen(actlog(cook(), { recorder: cookRecorder }), transport);
    try {
      const client = actlog(await agent.connect(), { recorder: waiter });
      const session = `table ${transport}`;
      await waiter.session(session).run(async () => {
        await client.sendMessage(ask('kitchen'));
        for await (const _ of client.sendMessageStream(ask('kitchen')));
      });
      const lines = await service.callLines(session);
      expect(lines.sort()).toEqual([
        'cook receive_message 200',
        'cook receive_message 200',
        'waiter recipes 200',
        'waiter recipes 200',
      ]);
    } finally {
      await agent.close();
    }
  },
);

test('keeps to the context if the caller belongs to another service', async () => {
  const other = await Service.start();
  try {
    const waiter = other.recorder({ agentId: 'waiter' });
    const network = new AgentNetwork();
    network.add('recipes', actlog(cook(), { recorder: service.recorder() }));
    const client = actlog(await network.connect('recipes'), { recorder: waiter });
    await waiter.session('elsewhere').run(() => client.sendMessage(ask('own kitchen')));
    expect(await service.callLines('own kitchen')).toEqual(['tester receive_message 200']);
    expect(await other.callLines('elsewhere')).toEqual(['waiter recipes 200']);
  } finally {
    await other.close();
  }
});

test('keeps the class of an executor, its fields and its methods', async () => {
  class Cook implements AgentExecutor {
    readonly #dish = 'pancake';
    readonly agentId = 'a field of the executor';
    async execute(...[context, bus]: Parameters<AgentExecutor['execute']>) {
      publishTask(context, bus, TaskState.TASK_STATE_COMPLETED, this.#dish);
    }
    async cancelTask() {}
  }
  const given = new Cook();
  const executor = actlog(given, { recorder: service.recorder() });
  expect(executor).toBe(given);
  expect(executor).toBeInstanceOf(Cook);
  const handler = new DefaultRequestHandler(cardOf('recipes', 'http://x'), new InMemoryTaskStore(), executor);
  const response = await handler.sendMessage(ask('class'), new ServerCallContext());
  expect(response).toMatchObject({ status: { message: { parts: [{ content: { value: 'pancake' } }] } } });
  expect(await service.callLines('class')).toEqual(['tester receive_message 200']);
});
