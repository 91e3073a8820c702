import { Service } from '@actlog/adapter-suite';
import { StructuredTool } from '@langchain/core/tools';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, tools } from '../tests/agent.ts';

import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('records successful and failed calls', async () => {
  const { echo, fail } = tools();
  const model = modelOf([[{ name: 'echo', args: { text: 'a' } }], [{ name: 'fail', args: {} }]]);
  const handler = actlog.handler({ recorder: service.recorder() });
  await createAgent({ model, tools: [echo, fail] }).invoke(question, {
    ...inThread('callbacks'),
    callbacks: [handler],
  });
  expect(await service.events('callbacks')).toEqual([
    { sessionId: 'callbacks', agentId: 'tester', toolName: 'echo', status: 200 },
    { sessionId: 'callbacks', agentId: 'tester', toolName: 'fail', status: 502 },
  ]);
});

test.each(['middleware', 'handler'])(
  'a thread whose id is a number is one session, for the %s',
  async (hook) => {
    const recorder = service.recorder();
    const threadId = hook === 'handler' ? 7_000_000_001 : 7_000_000_002;
    for (const text of ['a', 'b']) {
      const agent = createAgent({
        model: modelOf([[{ name: 'echo', args: { text } }]]),
        tools: [tools().echo],
        middleware: hook === 'middleware' ? [actlog({ recorder })] : [],
      });
      const callbacks = hook === 'handler' ? [actlog.handler({ recorder })] : [];
      await agent.invoke(question, { configurable: { thread_id: threadId }, callbacks });
    }
    expect(await service.events(String(threadId))).toHaveLength(2);
  },
);

test('counts each call once when attached twice and inherited by an inner agent', async () => {
  const { echo } = tools();
  const inner = createAgent({ model: modelOf([[{ name: 'echo', args: { text: 'in' } }]]), tools: [echo] });
  const ask = tool(async () => (await inner.invoke(question)).messages.at(-1)?.text ?? '', {
    name: 'ask',
    description: 'Asks the inner agent.',
    schema: z.object({}),
  });
  const handler = actlog.handler({ recorder: service.recorder() });
  const outer = createAgent({ model: modelOf([[{ name: 'ask', args: {} }]]), tools: [ask] });
  await outer
    .withConfig({ callbacks: [handler] })
    .invoke(question, { ...inThread('inherit'), callbacks: [handler] });
  const names = (await service.events('inherit')).map(({ toolName }) => toolName);
  expect(names.sort()).toEqual(['ask', 'echo']);
});

test('counts each call once next to the middleware and wrapped tools, also for inner agents', async () => {
  const recorder = service.recorder();
  const callbacks = [actlog.handler({ recorder })];
  class Shout extends StructuredTool {
    override name = 'shout';
    override description = 'Says it loudly.';
    override schema = z.object({});
    protected override async _call(): Promise<string> {
      throw new Error('hoarse');
    }
  }
  const { echo, fail } = tools();
  const askInner = async () => {
    const model = modelOf([[{ name: 'echo', args: { text: 'in' } }]]);
    return (await createAgent({ model, tools: [echo] }).invoke(question)).messages.at(-1)?.text ?? '';
  };
  const ask = tool(askInner, { name: 'ask', description: 'Asks.', schema: z.object({}) });
  const call = (name: string, args = {}) => ({ name, args });
  const all = [echo, fail, ask, new Shout()] as const;
  for (const [sessionId, tools, middleware] of [
    ['beside-middleware', all, [actlog({ recorder })]],
    ['beside-tools', actlog.tools(all, { recorder }), []],
    ['beside-both', actlog.tools(all, { recorder }), [actlog({ recorder })]],
  ] as const) {
    const turns = [[call('echo', { text: 'a' }), call('fail'), call('shout')], [call('ask')]];
    const agent = createAgent({ model: modelOf(turns), tools: [...tools], middleware });
    await agent.invoke(question, { ...inThread(sessionId), callbacks });
    const names = (await service.events(sessionId)).map(({ toolName }) => toolName);
    expect(names.sort()).toEqual(['ask', 'echo', 'echo', 'fail', 'shout']);
  }
});

test('counts each call once next to a wrapped tool with a run name', async () => {
  const { echo } = tools();
  const options = { recorder: service.recorder(), sessionId: 'run-name' };
  const config = { runName: 'Echo the question', callbacks: [actlog.handler(options)] };
  const [wrapped] = actlog.tools([echo], options);
  const args = { text: 'a' };
  await wrapped.invoke(args, config);
  await wrapped.invoke({ type: 'tool_call', id: '1', name: 'echo', args }, config);
  expect(await service.events('run-name')).toMatchObject([{ toolName: 'echo' }, { toolName: 'echo' }]);
});

test('records a manual recursive call of a wrapped tool as two calls', async () => {
  const options = { recorder: service.recorder(), sessionId: 'itself' };
  const handler = actlog.handler(options);
  const count = tool(
    async ({ to }: { to: number }, config): Promise<string> =>
      to === 0 ? 'done' : count.invoke({ to: to - 1 }, config),
    { name: 'count', description: 'Counts down.', schema: z.object({ to: z.number() }) },
  );
  await actlog.tools([count], options)[0].invoke({ to: 1 }, { callbacks: [handler, handler] });
  expect(await service.events('itself')).toHaveLength(2);
});

test('hashes arguments equally in callbacks and wrapped tools', async () => {
  const { echo } = tools();
  const recorder = service.recorder();
  const input = { text: 'ü' };
  await echo.invoke(input, { callbacks: [actlog.handler({ recorder, sessionId: 'same-hash' })] });
  await actlog.tools([echo], { recorder, sessionId: 'same-hash' })[0].invoke(input);
  await service.events('same-hash');
  const events = await service.client.sessions.events('same-hash').toArray({ limit: 10 });
  const hashes = new Set(events.map(({ payload }) => payload?.argumentsHash));
  expect(events).toHaveLength(2);
  expect(hashes.size).toBe(1);
});

test('records a custom tool class under its tool name', async () => {
  class Shout extends StructuredTool {
    override name = 'shout';
    override description = 'Says it loudly.';
    override schema = z.object({ text: z.string() });
    protected override async _call({ text }: { text: string }) {
      return text.toUpperCase();
    }
  }
  const handler = actlog.handler({ recorder: service.recorder() });
  const agent = createAgent({
    model: modelOf([[{ name: 'shout', args: { text: 'a' } }]]),
    tools: [new Shout()],
  });
  await agent.invoke(question, { ...inThread('class'), callbacks: [handler] });
  expect(await service.events('class')).toMatchObject([{ toolName: 'shout', status: 200 }]);
});
