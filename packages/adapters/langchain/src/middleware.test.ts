import { createAgent, createMiddleware, tool } from 'langchain';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, toolAnswers, tools } from '../tests/agent.ts';
import { Service } from '../tests/service.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('records a call under its thread, and leaves the result alone', async () => {
  const { echo } = tools();
  const model = modelOf([[{ name: 'echo', args: { text: 'hi' } }]]);
  const agent = createAgent({ model, tools: [echo], middleware: [actlog({ recorder: service.recorder() })] });
  const result = await agent.invoke(question, inThread('plain'));
  expect(toolAnswers(result)).toEqual([{ text: 'echo: hi', status: 'success' }]);
  expect(await service.events('plain')).toEqual([
    { sessionId: 'plain', agentId: 'tester', toolName: 'echo', status: 200 },
  ]);
});

test('a run without a thread is one session, and another run is another', async () => {
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

test('three calls at once are three events', async () => {
  const { echo } = tools();
  const calls = ['a', 'b', 'c'].map((text) => ({ name: 'echo', args: { text }, id: `call-${text}` }));
  const agent = createAgent({
    model: modelOf([calls]),
    tools: [echo],
    middleware: [actlog({ recorder: service.recorder() })],
  });
  expect(toolAnswers(await agent.invoke(question, inThread('three')))).toHaveLength(3);
  expect(await service.events('three')).toHaveLength(3);
});

test('a tool that throws is answered as LangChain answers it without the adapter', async () => {
  const { fail } = tools();
  const turns = [[{ name: 'fail', args: {} }]];
  const bare = await createAgent({ model: modelOf(turns), tools: [fail] }).invoke(question);
  const agent = createAgent({
    model: modelOf(turns),
    tools: [fail],
    middleware: [actlog({ recorder: service.recorder() })],
  });
  const recorded = await agent.invoke(question, inThread('throws'));
  expect(toolAnswers(recorded)).toEqual(toolAnswers(bare));
  expect(await service.events('throws')).toMatchObject([{ toolName: 'fail', status: 502 }]);
});

test('with onToolError "throw" the error passes on', async () => {
  const { fail } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'fail', args: {} }]]),
    tools: [fail],
    middleware: [actlog({ recorder: service.recorder(), onToolError: 'throw' })],
  });
  await expect(agent.invoke(question, inThread('passes'))).rejects.toThrow('it broke');
  expect(await service.events('passes')).toMatchObject([{ status: 502 }]);
});

test('invalid arguments are 400 and unknown tools 404, answered as without the adapter', async () => {
  const { echo } = tools();
  const turns = [[{ name: 'echo', args: { text: 5 } }], [{ name: 'nowhere', args: {} }]];
  const bare = await createAgent({ model: modelOf(turns), tools: [echo] }).invoke(question);
  const agent = createAgent({
    model: modelOf(turns),
    tools: [echo],
    middleware: [actlog({ recorder: service.recorder() })],
  });
  const recorded = await agent.invoke(question, inThread('invalid'));
  expect(toolAnswers(recorded)).toEqual(toolAnswers(bare));
  expect(await service.events('invalid')).toMatchObject([
    { toolName: 'echo', status: 400 },
    { toolName: 'nowhere', status: 404 },
  ]);
});

test('streaming records the same', async () => {
  const { echo } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 's' } }]]),
    tools: [echo],
    middleware: [actlog({ recorder: service.recorder() })],
  });
  const nodes: string[] = [];
  for await (const update of await agent.stream(question, { ...inThread('stream'), streamMode: 'updates' })) {
    nodes.push(...Object.keys(update));
  }
  expect(nodes).toEqual(['model_request', 'tools', 'model_request']);
  expect(await service.events('stream')).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('an agent inside a tool of another: each call once, under its own agent', async () => {
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

test('middleware over wrapped tools counts each call once', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'x' }, id: 'call-x' }]]),
    tools: actlog.tools([echo], { recorder }),
    middleware: [actlog({ recorder })],
  });
  await agent.invoke(question, inThread('twice'));
  expect(await service.events('twice')).toHaveLength(1);
});

test("the user's own middleware keeps its place", async () => {
  const { echo } = tools();
  const seen: string[] = [];
  const own = createMiddleware({
    name: 'own',
    wrapToolCall: (request, handler) => {
      seen.push(request.toolCall.name);
      return handler(request);
    },
  });
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'x' } }]]),
    tools: [echo],
    middleware: [actlog({ recorder: service.recorder() }), own],
  });
  await agent.invoke(question, inThread('own'));
  expect(seen).toEqual(['echo']);
  expect(await service.events('own')).toHaveLength(1);
});

test('names, statuses, sessions and agents can be mapped, and tools left out', async () => {
  const { echo, fail } = tools();
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'x' } }], [{ name: 'fail', args: {} }]]),
    tools: [echo, fail],
    middleware: [
      actlog({
        recorder: service.recorder(),
        agentId: 'mapped-agent',
        sessionId: () => 'mapped-session',
        toolName: (name) => `shop.${name}`,
        responseStatus: () => 299,
        exclude: [/^fail$/],
      }),
    ],
  });
  // Left out means left alone: LangChain then ends the run, as it does with any middleware in place.
  await agent.invoke(question, inThread('ignored')).catch(() => undefined);
  expect(await service.events('mapped-session')).toEqual([
    { sessionId: 'mapped-session', agentId: 'mapped-agent', toolName: 'shop.echo', status: 299 },
  ]);
});

test('without anything configured the agent runs, and one warning says so', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const registry = globalThis as Record<symbol, unknown>;
  const shared = Symbol.for('@actlog/recorder/shared');
  delete registry[shared];
  const { echo } = tools();
  for (let run = 0; run < 2; run += 1) {
    const model = modelOf([[{ name: 'echo', args: { text: 'x' } }]]);
    const result = await createAgent({ model, tools: [echo], middleware: [actlog()] }).invoke(question);
    expect(toolAnswers(result)).toEqual([{ text: 'echo: x', status: 'success' }]);
  }
  expect(warn).toHaveBeenCalledTimes(1);
  warn.mockRestore();
  delete registry[shared];
});
