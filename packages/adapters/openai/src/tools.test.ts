import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { ParsingToolFunction } from 'openai/lib/RunnableFunction';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf, type ModelCall, toolResultsOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const parameters = { type: 'object' as const, properties: {} };

/** Repeats a text, twice unless the model gives a number. */
const repeat = {
  type: 'function' as const,
  function: {
    name: 'repeat',
    description: 'Says it again.',
    parameters,
    parse: (text: string) =>
      z.object({ text: z.string(), times: z.number().default(2) }).parse(JSON.parse(text)),
    function: ({ text, times }: { text: string; times: number }) => text.repeat(times),
  },
};

/** Returns the tool results that the model receives for one turn of calls in the SDK's own loop. */
async function resultsOf(calls: readonly ModelCall[], tools: readonly object[], messages = [user()]) {
  const { client, sent } = clientOf([{ calls }]);
  const runner = client.chat.completions.runTools({ model: 'scripted', messages, tools: tools as never[] });
  await runner.done();
  return toolResultsOf(sent).map(({ text }) => text);
}

function user() {
  return { role: 'user' as const, content: 'go' };
}

test("hashes the model's arguments before schema defaults", async () => {
  const tools = actlog([repeat], { recorder: service.recorder(), sessionId: 'raw' });
  expect(await resultsOf([{ name: 'repeat', text: '{ "text": "a" }' }], tools)).toEqual(['aa']);
  const [event] = await service.storedEvents('raw');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 'a' }));
});

test('records the parsed arguments of a tool that takes the raw text', async () => {
  const raw = {
    type: 'function' as const,
    function: { name: 'raw', description: '', parameters, function: (text: string) => `got ${text}` },
  };
  const tools = actlog([raw], { recorder: service.recorder(), sessionId: 'text' });
  expect(await resultsOf([{ name: 'raw', text: '{"a":1}' }], tools)).toEqual(['got {"a":1}']);
  const [event] = await service.storedEvents('text');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ a: 1 }));
});

test('keeps and records a tool created by zodFunction', async () => {
  const own = zodFunction({
    name: 'greet',
    description: 'Greets.',
    parameters: z.object({ who: z.string() }) as never,
    function: ({ who }: { who: string }) => `hello ${who}`,
  });
  const [tool] = actlog([own], { recorder: service.recorder(), sessionId: 'zod' });
  expect(await resultsOf([{ name: 'greet', text: '{"who":"you"}' }], [tool])).toEqual(['hello you']);
  expect(tool.$parseRaw('{"who":"me"}')).toEqual({ who: 'me' });
  expect(Object.keys(tool)).toEqual(Object.keys(own));
  expect(await service.events('zod')).toMatchObject([{ toolName: 'greet', status: 200 }]);
});

test("uses the function's name for a tool without one", async () => {
  async function shout(text: string) {
    return text.toUpperCase();
  }
  const nameless = { type: 'function' as const, function: { description: '', parameters, function: shout } };
  const tools = actlog([nameless], { recorder: service.recorder(), sessionId: 'nameless' });
  expect(await resultsOf([{ name: 'shout', text: '{"a":1}' }], tools)).toEqual(['{"A":1}']);
  expect(await service.events('nameless')).toMatchObject([{ toolName: 'shout', status: 200 }]);
});

test('keeps the class and this of a class instance', async () => {
  const parsing = new ParsingToolFunction({ ...repeat.function, name: 'parsing' });
  const methods = {
    type: 'function' as const,
    function: {
      name: 'methods',
      description: '',
      parameters,
      end: '!',
      function(text: string) {
        return text + this.end;
      },
    },
  };
  const [first, second] = actlog([parsing, methods], { recorder: service.recorder(), sessionId: 'classes' });
  expect(first).toBeInstanceOf(ParsingToolFunction);
  const calls = [
    { name: 'parsing', text: '{"text":"b"}' },
    { name: 'methods', text: '{}' },
  ];
  expect(await resultsOf(calls, [first, second])).toEqual(['bb', '{}!']);
  expect(await service.events('classes')).toHaveLength(2);
});

test("returns excluded tools and OpenAI's tools unchanged", () => {
  const search = { type: 'web_search' } as const;
  const options = { recorder: service.recorder(), exclude: ['repeat'] };
  expect(actlog([repeat, search], options)).toEqual([repeat, search]);
  expect(actlog([repeat, search], options)[0]).toBe(repeat);
  expect(actlog([repeat, search], options)[1]).toBe(search);
});

test('records invalid arguments as 400 once, also when installed twice', async () => {
  const options = { recorder: service.recorder(), sessionId: 'misfit' };
  const tools = actlog(actlog([repeat], options), options);
  const results = await resultsOf([{ name: 'repeat', text: '{"text":5}' }], tools);
  expect(results).toEqual(await resultsOf([{ name: 'repeat', text: '{"text":5}' }], [repeat]));
  const [event, ...others] = await service.storedEvents('misfit');
  expect(others).toEqual([]);
  expect(event?.payload).toMatchObject({ responseStatus: 400 });
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 5 }));
});

test('records invalid arguments in the session of their conversation', async () => {
  const tools = actlog([repeat], { recorder: service.recorder(), agentId: 'misfits' });
  const valid = { name: 'repeat', text: '{"text":"a"}' };
  for (let chat = 0; chat < 2; chat += 1) {
    await resultsOf([{ name: 'repeat', text: '{"text":5}' }, valid], tools);
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('misfits').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('records two concurrent equal calls separately, also when installed twice', async () => {
  const options = { recorder: service.recorder(), sessionId: 'same' };
  const call = { name: 'repeat', text: '{"text":"a"}' };
  expect(await resultsOf([call, call], actlog(actlog([repeat], options), options))).toEqual(['aa', 'aa']);
  expect(await service.events('same')).toHaveLength(2);
});

test('uses one session per conversation', async () => {
  const tools = actlog([repeat], { recorder: service.recorder(), agentId: 'talker' });
  const first = [user()];
  await resultsOf([{ name: 'repeat', text: '{"text":"a"}' }], tools, first);
  await resultsOf([{ name: 'repeat', text: '{"text":"b"}' }], tools, [...first, user()]);
  await resultsOf([{ name: 'repeat', text: '{"text":"c"}' }], tools);
  await service.events('none');
  const sessions = await service.client.agents.sessions('talker').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 2]);
});

test('keeps two chats apart whose users wrote the same, and whose models number their calls', async () => {
  const tools = actlog([repeat], { recorder: service.recorder(), agentId: 'numbering' });
  for (const _chat of [1, 2]) {
    const call = { id: 'call_1', type: 'function', function: { name: 'repeat', arguments: '{"text":"a"}' } };
    const turns = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'assistant', content: 'Done.' },
    ];
    const client = new OpenAI({
      apiKey: 'none',
      fetch: async () =>
        Response.json({ choices: [{ index: 0, finish_reason: 'stop', message: turns.shift() }] }),
    });
    await client.chat.completions.runTools({ model: 'scripted', messages: [user()], tools }).done();
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('numbering').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([1, 1]);
});

test('records a manual call, and returns a denial as its result', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['raw'] },
    message: 'No.',
  });
  const raw = { type: 'function' as const, function: { name: 'raw', function: () => 'ran' } };
  const options = { recorder: service.guarded(), sessionId: 'by-hand' };
  const [tool, denied] = actlog([repeat, raw], options);
  expect(await tool.function.function({ text: 'a', times: 3 })).toBe('aaa');
  expect(await denied.function.function()).toMatch(/^The call of the tool "raw" was not run: .*No\./);
  await policies.archive(id);
  expect(await service.events('by-hand')).toMatchObject([{ status: 200 }, { status: 403 }]);
});
