import { runInNewContext } from 'node:vm';
import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/tool-call';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('returns the results of a list of calls in their order, as text or JSON', async () => {
  const order = Promise.withResolvers<string>();
  const runCalls = actlog(
    {
      first: () => order.promise,
      second: (args: object) => {
        order.resolve('one');
        return args;
      },
      nothing: () => undefined,
    },
    { recorder: service.recorder(), sessionId: 'plain' },
  );
  const calls = [
    { id: 'c1', name: 'first' },
    { name: 'second', arguments: '{"a":1}' },
    { name: 'nothing', arguments: { b: 2 } },
  ];
  expect(await runCalls(calls)).toEqual([
    { id: 'c1', name: 'first', content: 'one', isError: false },
    { name: 'second', content: '{"a":1}', isError: false },
    { name: 'nothing', content: '', isError: false },
  ]);
  const hashes = (await service.storedEvents('plain')).map(({ payload }) => payload?.argumentsHash);
  const expected = await Promise.all([{}, { a: 1 }, { b: 2 }].map((args) => hashArguments(args)));
  expect(hashes.sort()).toEqual(expected.sort());
});

test('records all digits of a number in a JSON text', async () => {
  const got: unknown[] = [];
  const run = (args: unknown) => String(got.push(args));
  const runCalls = actlog(run, { recorder: service.recorder(), sessionId: 'digits' });
  await runCalls([{ name: 'pay', arguments: '{"account":1917043659912705297}' }]);
  expect(got).toEqual([JSON.parse('{"account":1917043659912705297}')]);
  const [event] = await service.storedEvents('digits');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ account: 1917043659912705297n }));
});

test('runs methods, which use their object', async () => {
  const functions = {
    greet: ({ name }: { name: string }) => `Hello, ${name}!`,
    greetTwice(args: { name: string }) {
      return `${this.greet(args)} ${this.greet(args)}`;
    },
  };
  const runCalls = actlog(functions, { recorder: service.recorder(), sessionId: 'methods' });
  const [result] = await runCalls([{ name: 'greetTwice', arguments: { name: 'Ada' } }]);
  expect(result).toMatchObject({ content: 'Hello, Ada! Hello, Ada!', isError: false });
});

test('records what is not run: unknown tools, and arguments that are not JSON, as they are', async () => {
  const ran: unknown[] = [];
  const functions = { echo: (args: unknown) => ran.push(args) };
  const runCalls = actlog(functions, { recorder: service.recorder(), sessionId: 'refused' });
  const calls = [
    { name: 'toString', arguments: {} },
    { name: 'echo', arguments: '{broken' },
  ];
  expect(await runCalls(calls)).toEqual([
    { name: 'toString', content: 'Error: There is no tool named "toString".', isError: true },
    { name: 'echo', content: 'Error: The arguments are not JSON.', isError: true },
  ]);
  expect(ran).toEqual([]);
  expect(await service.callLines('refused')).toEqual(['tester toString 404', 'tester echo 400']);
  const events = await service.storedEvents('refused');
  expect(events.at(-1)?.payload?.argumentsHash).toBe(await hashArguments('{broken'));
});

test('records a result that is not JSON-serializable as a failure', async () => {
  const round: Record<string, unknown> = {};
  round.self = round;
  const runCalls = actlog({ echo: () => round }, { recorder: service.recorder(), sessionId: 'round' });
  const [result] = await runCalls([{ name: 'echo' }]);
  expect(result?.content).toMatch(/^Error: Converting circular structure to JSON/);
  expect(await service.callLines('round')).toEqual(['tester echo 500']);
});

test('tells the model the message of an error of another realm', async () => {
  const fail = () => {
    throw runInNewContext('new RangeError("too far")');
  };
  const runCalls = actlog({ fail }, { recorder: service.recorder(), sessionId: 'realm' });
  const [result] = await runCalls([{ name: 'fail' }]);
  expect(result).toMatchObject({ content: 'Error: too far', isError: true });
});

test('accepts one function for all tools, which gets a signal in any case', async () => {
  const heard: unknown[] = [];
  const { signal } = new AbortController();
  const run = (args: unknown, context: object) => heard.push({ args, ...context });
  const runCalls = actlog(run, { recorder: service.recorder(), sessionId: 'one', exclude: ['left'] });
  await runCalls([{ id: 'c1', name: 'any', arguments: { a: 1 } }], { signal });
  await runCalls([{ name: 'left' }]);
  expect(heard).toEqual([
    { args: { a: 1 }, callId: 'c1', toolName: 'any', signal },
    { args: {}, callId: undefined, toolName: 'left', signal: expect.any(AbortSignal) },
  ]);
  expect(await service.callLines('one')).toEqual(['tester any 200']);
});

test("returns a denial's message, and throws after an abort", async () => {
  const { policies } = service.client;
  const { id } = await policies.create({ name: 'no', effect: 'deny', match: { tools: ['pay'] } });
  const controller = new AbortController();
  const slow = () => {
    controller.abort();
    throw new Error('cut off');
  };
  const runCalls = actlog({ pay: () => 'paid', slow }, { recorder: service.guarded(), sessionId: 'denied' });
  const [denied] = await runCalls([{ name: 'pay' }]);
  await policies.archive(id);
  expect(denied).toMatchObject({
    content: expect.stringMatching(/^The call of the tool "pay" was not run/),
    isError: true,
  });
  await expect(runCalls([{ name: 'slow' }], { signal: controller.signal })).rejects.toThrow('cut off');
  expect(await service.callLines('denied')).toEqual(['tester pay 403', 'tester slow 499']);
});

test('uses one session per conversation, also when its messages are restored from JSON', async () => {
  const options = { recorder: service.recorder(), agentId: 'talker' };
  const runCalls = actlog({ echo: () => 'ran' }, options);
  const user = (content: string) => ({ role: 'user', content });
  const assistant = {
    role: 'assistant',
    toolCalls: [{ id: 'c1', function: { name: 'echo', arguments: '{}' } }],
  };
  const messages = [user('go')];
  const results = await runCalls(assistant, { messages });
  const restored = JSON.parse(JSON.stringify([...messages, assistant, ...results]));
  await runCalls(assistant, { messages: [...restored, user('more')] });
  await runCalls(assistant, { messages: [user('else')] });
  await service.events('none');
  const sessions = await service.client.agents.sessions('talker').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 2]);
});

test('keeps two chats apart whose users wrote the same, if the output is among the messages', async () => {
  const options = { recorder: service.recorder(), agentId: 'numbering' };
  const runCalls = actlog({ echo: () => 'ran' }, options);
  const assistant = {
    role: 'assistant',
    tool_calls: [{ id: 'call_1', function: { name: 'echo', arguments: '{}' } }],
  };
  for (const _chat of [1, 2])
    await runCalls(assistant, { messages: [{ role: 'user', content: 'go' }, assistant] });
  await service.events('none');
  const sessions = await service.client.agents.sessions('numbering').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([1, 1]);
});

test("sees the user's text and the system prompt as origins, in the formats of providers", async () => {
  const to = 'DE89370400440532013000';
  const text = `Pay 250 to ${to} today.`;
  const written = {
    user: [
      { role: 'user', content: text },
      { role: 'user', content: [{ text }] },
      { role: 'user', parts: [{ text }] },
    ],
    system: [
      { role: 'system', content: text },
      { role: 'developer', content: [{ type: 'text', text }] },
    ],
    model: [{ role: 'assistant', content: text }, { role: 'tool', content: text }, null],
  };
  let count = 0;
  for (const [author, messages] of Object.entries(written)) {
    for (const message of messages) {
      count += 1;
      const sessionId = `origins-${count}`;
      const runCalls = actlog(
        { pay: () => 'paid' },
        { recorder: service.recorder({ origins: true }), sessionId },
      );
      await runCalls([{ name: 'pay', arguments: { to } }], { messages: [message] });
      const [reported] = await service.argumentOrigins(sessionId, 'pay');
      expect(reported?.origins.to).toEqual({ from: author });
    }
  }
  const runCalls = actlog(
    { pay: () => 'paid' },
    { recorder: service.recorder({ origins: true }), sessionId: 'system' },
  );
  await runCalls([{ name: 'pay', arguments: { to } }], { system: [{ text }] });
  const [reported] = await service.argumentOrigins('system', 'pay');
  expect(reported?.origins.to).toEqual({ from: 'system' });
});
