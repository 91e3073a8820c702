import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { ToolMessage } from '@langchain/core/messages';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { createAgent, createMiddleware } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inThread, modelOf, question, toolResultsOf, tools } from '../tests/agent.ts';

import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  const { policies } = service.client;
  await policies.create({
    name: 'no b',
    effect: 'deny',
    match: { tools: ['echo'] },
    condition: 'args.text == "b"',
    message: 'Never b.',
  });
});
afterAll(() => service.close());

type Wrap = NonNullable<Parameters<typeof createMiddleware>[0]['wrapToolCall']>;

/** Runs an agent that calls `echo` with `a`, and has user middleware after the adapter. */
async function runWith(thread: string, wrapToolCall: Wrap, options: ActlogOptions = {}) {
  const { echo, ran } = tools();
  const guard = { showArguments: (args: unknown) => args as Record<string, unknown> };
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'a' }, id: '1' }]]),
    tools: [echo],
    middleware: [
      actlog({ recorder: service.guarded(guard), ...options }),
      createMiddleware({ name: 'own', wrapToolCall }),
    ],
  });
  const result = await agent.invoke(question, inThread(thread));
  const events = (await service.storedEvents(thread)).map(({ payload }) => [
    payload?.argumentsHash,
    payload?.responseStatus,
  ]);
  return { ran, events, toolResults: toolResultsOf(result).map(({ text }) => text) };
}

/** Creates middleware that passes on a request with this text in the arguments. */
function saying(text: string): Wrap {
  return (request, handler) => handler({ ...request, toolCall: { ...request.toolCall, args: { text } } });
}

/** Creates middleware that writes this text into the arguments object. */
function writing(text: string): Wrap {
  return (request, handler) => {
    request.toolCall.args.text = text;
    return handler(request);
  };
}

/** Creates middleware that invokes the tool itself. */
function invoking(text: string): Wrap {
  return async ({ tool, toolCall }) => {
    const content = await (tool as StructuredToolInterface).invoke({ text });
    return new ToolMessage({ content, tool_call_id: toolCall.id ?? '', name: toolCall.name });
  };
}

const ways = [
  ['handed on', saying],
  ['written into the call', writing],
  ['given to the tool by itself', invoking],
] as const;

test.each(ways)(
  'checks arguments that inner middleware has %s before the tool runs',
  async (how, middleware) => {
    const { ran, events, toolResults } = await runWith(`denied ${how}`, middleware('b'));
    expect(ran).toEqual([]);
    expect(toolResults).toEqual([
      expect.stringMatching(/The call of the tool "echo" was not run: .*Never b\./),
    ]);
    expect(events).toEqual([[await hashArguments({ text: 'b' }), 403]]);
  },
);

test.each(ways)(
  'records a call whose arguments were %s once, with the final arguments',
  async (how, middleware) => {
    const { ran, events, toolResults } = await runWith(`changed ${how}`, middleware('c'));
    expect(ran).toEqual(['echo c']);
    expect(toolResults).toEqual(['echo: c']);
    expect(events).toEqual([[await hashArguments({ text: 'c' }), 200]]);
  },
);

test('checks and records a call retried unchanged by inner middleware once', async () => {
  const { ran, events } = await runWith('again', async (request, handler) => {
    await handler(request);
    return (await handler({ ...request, toolCall: { ...request.toolCall } })) as ToolMessage;
  });
  expect(ran).toEqual(['echo a', 'echo a']);
  expect(events).toEqual([[await hashArguments({ text: 'a' }), 200]]);
});

test.each([
  ['before', ['a', 'c']],
  ['after', ['c', 'a']],
])('also records a call that ran unchanged %s it ran with other arguments', async (when, texts) => {
  const { ran, events } = await runWith(`both ${when}`, async (request, handler) => {
    const [first, last] = texts.map((text) => saying(text as string));
    await first?.(request, handler);
    return (await last?.(request, handler)) as ToolMessage;
  });
  expect(ran).toEqual(texts.map((text) => `echo ${text}`));
  expect(events.sort()).toEqual(
    [
      [await hashArguments({ text: 'a' }), 200],
      [await hashArguments({ text: 'c' }), 200],
    ].sort(),
  );
});

test('records an unchanged run with its own outcome', async () => {
  const { events } = await runWith('denied, then as it was', async (request, handler) => {
    await handler(request);
    return (await saying('b')(request, handler)) as ToolMessage;
  });
  // Events of one millisecond are in any order.
  expect(events.sort()).toEqual(
    [
      [await hashArguments({ text: 'b' }), 403],
      [await hashArguments({ text: 'a' }), 200],
    ].sort(),
  );
});

test('does not record a call that did not run because of responseStatus', async () => {
  const { events } = await runWith('own status', saying('c'), { responseStatus: () => 218 });
  expect(events).toEqual([[await hashArguments({ text: 'c' }), 218]]);
});

test('passes the original tool to inner middleware without a guard', async () => {
  const { echo, ran } = tools();
  const seen: unknown[] = [];
  const agent = createAgent({
    model: modelOf([[{ name: 'echo', args: { text: 'a' }, id: '1' }]]),
    tools: [echo],
    middleware: [
      actlog({ recorder: service.recorder() }),
      createMiddleware({
        name: 'own',
        wrapToolCall: (request, handler) => {
          seen.push(request.tool);
          return handler(request);
        },
      }),
    ],
  });
  await agent.invoke(question, inThread('plain'));
  expect(ran).toEqual(['echo a']);
  expect(seen[0] === echo).toBe(true);
});
