import { setImmediate } from 'node:timers/promises';
import { Service } from '@actlog/adapter-suite';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import {
  createAgent,
  createMiddleware,
  MiddlewareError,
  ToolMessage,
  type ToolRuntime,
  tool,
} from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { Heedless, inThread, modelOf, question, toolResultsOf, tools } from '../tests/agent.ts';

import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('uses one session per run without a thread', async () => {
  const { echo } = tools();
  const recorder = service.recorder({ agentId: 'no-thread' });
  for (let run = 0; run < 2; run += 1) {
    const model = modelOf([[{ name: 'echo', args: { text: 'a' } }], [{ name: 'echo', args: { text: 'b' } }]]);
    await createAgent({ model, tools: [echo], middleware: [actlog({ recorder })] }).invoke(question);
  }
  await recorder.flush();
  const sessions = await service.client.agents.sessions('no-thread').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('uses the surrounding session without a thread, and that of the tool for an inner agent', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const agentOf = (name: string, used: StructuredToolInterface) =>
    createAgent({
      model: modelOf([[{ name, args: { text: 'a' } }]]),
      tools: [used],
      middleware: [actlog({ recorder })],
    });
  const ask = tool(async () => (await agentOf('echo', echo).invoke(question)).messages.at(-1)?.text ?? '', {
    name: 'ask_inner',
    description: 'Asks the inner agent.',
    schema: z.object({ text: z.string() }),
  });
  await recorder.session('around').run(() => agentOf('ask_inner', ask).invoke(question));
  await agentOf('ask_inner', ask).invoke(question, inThread('outer'));
  for (const session of ['around', 'outer']) {
    expect(await service.events(session)).toMatchObject([{ toolName: 'echo' }, { toolName: 'ask_inner' }]);
  }
});

test.each(['endless', 'ending'])(
  'records a generator whose run is aborted at once, also an %s one',
  async (kind) => {
    const controller = new AbortController();
    let isLeft = false;
    const count = tool(
      async function* (_: object, { signal }: { signal?: AbortSignal }) {
        for (let step = 0; !isLeft && !(kind === 'ending' && signal?.aborted); step += 1) {
          if (step === 3) controller.abort();
          await setImmediate();
          yield step;
        }
        return 'counted';
      } as never,
      { name: 'count', description: 'Counts.', schema: z.object({}) },
    );
    const model = modelOf([[{ name: 'count', args: {} }]]);
    const middleware = [actlog({ recorder: service.recorder() })];
    const config = { ...inThread(`generator-${kind}`), signal: controller.signal };
    await expect(
      createAgent({ model, tools: [count], middleware }).invoke(question, config),
    ).rejects.toThrow();
    const events = () => service.events(`generator-${kind}`);
    await expect.poll(events).toMatchObject([{ toolName: 'count', status: 499 }]);
    isLeft = true;
    await setImmediate();
    expect(await events()).toHaveLength(1);
  },
);

test('records with both recorders of two middlewares, and once with a shared one', async () => {
  const recorder = service.recorder();
  const other = service.recorder({ agentId: 'other' });
  const { echo, ran } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'a' } }]]),
    tools: [echo],
    middleware: [actlog({ recorder }), actlog({ recorder }), actlog({ recorder: other })],
  });
  await agent.invoke(question, inThread('installed-twice'));
  expect(ran).toEqual(['echo a']);
  const agentIds = (await service.events('installed-twice')).map(({ agentId }) => agentId);
  expect(agentIds.sort()).toEqual(['other', 'tester']);
});

test("records the tool's error and the denial of either guard with two middlewares", async () => {
  const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['echo'] },
  });
  const recorder = service.recorder();
  const other = service.recorder();
  const { echo, fail } = tools();
  const strict = tool(() => 'fine', {
    name: 'strict',
    description: 'Takes numbers.',
    schema: z.object({ count: z.number() }),
  });
  const model = modelOf([
    [
      { name: 'fail', args: {} },
      { name: 'strict', args: { count: 'many' } },
      { name: 'echo', args: { text: 'x' } },
    ],
  ]);
  const middleware = [
    actlog({ recorder: other, sessionId: 'other-outer' }),
    actlog({ recorder, sessionId: 'same-outer' }),
    actlog({ recorder, sessionId: 'same-inner', guard }),
  ];
  await createAgent({ model, tools: [echo, fail, strict], middleware }).invoke(question);
  await service.client.policies.archive(id);
  for (const session of ['other-outer', 'same-outer']) {
    const events = await service.events(session);
    expect(events.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
      'echo 403',
      'fail 502',
      'strict 400',
    ]);
  }
  expect(await service.events('same-inner')).toEqual([]);
});

test('does not run an approved call whose createAgent signal aborted during the hold', async () => {
  const { policies } = service.client;
  const match = { tools: ['heedless'] };
  const { id } = await policies.create({ name: 'ask', effect: 'require_approval', match });
  const heedless = new Heedless();
  const abort = new AbortController();
  const run = createAgent({
    model: modelOf([[{ name: 'heedless', args: {} }]]),
    tools: [heedless],
    middleware: [actlog({ recorder: service.guarded() })],
    signal: abort.signal,
  }).invoke(question, inThread('agent-signal'));
  await service.held('agent-signal');
  abort.abort();
  await service.decide('agent-signal', 'approve');
  await expect(run).rejects.toThrow('aborted');
  await policies.archive(id);
  expect(heedless.ran).toBe(0);
  expect(await service.events('agent-signal')).toMatchObject([{ toolName: 'heedless', status: 499 }]);
});

test('records a tool whose graph hands over to its parent', async () => {
  const handOver = async () => new Command({ graph: Command.PARENT, goto: END });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('hand_over', handOver)
    .addEdge(START, 'hand_over')
    .compile();
  const leave = tool(async () => `${await graph.invoke(question)}`, {
    name: 'leave',
    description: 'Hands over.',
    schema: z.object({}),
  });
  const recorder = service.recorder();
  const model = modelOf([[{ name: 'leave', args: {} }]]);
  await createAgent({ model, tools: [leave], middleware: [actlog({ recorder })] }).invoke(
    question,
    inThread('hands-over'),
  );
  expect(await service.events('hands-over')).toMatchObject([{ toolName: 'leave', status: 200 }]);
});

test.each([
  ['error', 500],
  ['success', 200],
] as const)('a tool whose command returns status %s is recorded as %i', async (status, recorded) => {
  const save = tool(
    (_, { toolCallId }: ToolRuntime) => {
      const result = { content: 'It is said.', tool_call_id: toolCallId, name: 'save', status };
      const others = { content: 'It is not said.', tool_call_id: 'another', status: 'error' } as const;
      return new Command({ update: { messages: [new ToolMessage(others), new ToolMessage(result)] } });
    },
    { name: 'save', description: 'Saves.', schema: z.object({}) },
  );
  const agent = createAgent({
    model: modelOf([[{ name: 'save', args: {} }]]),
    tools: [save],
    middleware: [actlog({ recorder: service.recorder() })],
  });
  await agent.invoke(question, inThread(`command-${status}`));
  expect(await service.events(`command-${status}`)).toMatchObject([{ status: recorded }]);
});

test('passes on the error with onToolError "throw"', async () => {
  const { fail } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'fail', args: {} }]]),
    tools: [fail],
    middleware: [actlog({ recorder: service.recorder(), onToolError: 'throw' })],
  });
  await expect(agent.invoke(question, inThread('passes'))).rejects.toThrow('it broke');
  expect(await service.events('passes')).toMatchObject([{ status: 502 }]);
});

// Older versions of LangChain, such as 1.4, do not recognize their own wrapper of such errors.
const knowsMiddlewareErrors = MiddlewareError.isInstance(MiddlewareError.wrap(new Error(), 'own'));

test.runIf(knowsMiddlewareErrors)(
  'ends the run with an error of inner middleware, as without the adapter',
  async () => {
    const { echo, ran } = tools();
    const budget = createMiddleware({
      name: 'budget',
      wrapToolCall: () => {
        throw new Error('The budget is used up.');
      },
    });
    const agent = createAgent({
      model: modelOf([[{ name: 'echo', args: { text: 'a' } }]]),
      tools: [echo],
      middleware: [actlog({ recorder: service.recorder() }), budget],
    });
    await expect(agent.invoke(question, inThread('budget'))).rejects.toThrow('The budget is used up.');
    expect(ran).toEqual([]);
    expect(await service.events('budget')).toMatchObject([{ toolName: 'echo', status: 500 }]);
  },
);

test.each([null, undefined, 'it broke'])(
  'reports a tool that throws %j to the model, and records it',
  async (thrown) => {
    const fail = tool(() => Promise.reject(thrown), {
      name: 'fail',
      description: 'Breaks.',
      schema: z.object({}),
    });
    const told: Error[] = [];
    const agent = createAgent({
      model: modelOf([[{ name: 'fail', args: {} }]]),
      tools: [fail],
      middleware: [actlog({ recorder: service.recorder({ onError: (error) => told.push(error) }) })],
    });
    const result = await agent.invoke(question, inThread(`throws-${thrown}`));
    expect(toolResultsOf(result)).toMatchObject([{ text: `${thrown}\n Please fix your mistakes.` }]);
    expect(await service.events(`throws-${thrown}`)).toMatchObject([{ status: 500 }]);
    expect(told).toEqual([]);
  },
);

test('records each call of an inner agent once under its own name', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const inner = createAgent({
    name: 'inner',
    model: modelOf([[{ name: 'echo', args: { text: 'deep' } }]]),
    tools: [echo],
    middleware: [actlog({ recorder })],
  });
  const ask = tool(
    async () => (await inner.invoke(question, inThread('nested'))).messages.at(-1)?.text ?? '',
    {
      name: 'ask_inner',
      description: 'Asks the inner agent.',
      schema: z.object({}),
    },
  );
  const outer = createAgent({
    name: 'outer',
    model: modelOf([[{ name: 'ask_inner', args: {} }]]),
    tools: [ask],
    middleware: [actlog({ recorder })],
  });
  await outer.invoke(question, inThread('nested'));
  expect(await service.events('nested')).toEqual([
    { sessionId: 'nested', agentId: 'inner', toolName: 'echo', status: 200 },
    { sessionId: 'nested', agentId: 'outer', toolName: 'ask_inner', status: 200 },
  ]);
});

test("passes only the denial's message to the model", async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
    message: 'Never fail.',
  });
  const { fail } = tools();
  const model = modelOf([[{ name: 'fail', args: {} }]]);
  const agent = createAgent({ model, tools: [fail], middleware: [actlog({ recorder: service.guarded() })] });
  const result = await agent.invoke(question, inThread('deny'));
  // LangChain's "fix your mistakes" would ask the model to retry.
  expect(toolResultsOf(result)[0]?.text).toMatch(
    /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/,
  );
  await policies.archive(id);
});

test('keeps the run as it is when a tool throws that the options exclude', async () => {
  const recorder = service.recorder();
  const resultsWith = async (middleware: ReturnType<typeof actlog>[]) => {
    const model = modelOf([[{ name: 'fail', args: {} }]]);
    const agent = createAgent({ model, tools: [tools().fail], middleware });
    return toolResultsOf(await agent.invoke(question, inThread('excluded-throws'))).map(({ text }) => text);
  };
  const recorded = await resultsWith([actlog({ recorder, exclude: ['fail'] })]);
  expect(recorded).toEqual(await resultsWith([]));
  expect(await service.events('excluded-throws')).toEqual([]);
});
