import { Service } from '@actlog/adapter-suite';
import type { Recorder } from '@actlog/recorder';
import type Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf, toolUse } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const params = { model: 'scripted', max_tokens: 100 };
const account = 'DE89370400440532013000';
const address = 'kim.oduya@payments.example';
const pay = `Please pay ${account} today.`;
const sends = (to: string) => [toolUse('send', { to })];
const messageOf = (...content: unknown[]) => ({ content });

const send = betaZodTool({
  name: 'send',
  description: 'Sends.',
  inputSchema: z.object({ to: z.string() }),
  run: () => 'Sent.',
});

function traced() {
  return service.recorder({ origins: true });
}

/** Returns the origins of the argument `to` of the calls of `send`. */
async function originsOf(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map(({ origins }) => origins.to);
}

/** Runs `send` in the SDK's own loop, with the middleware. */
async function runSend(
  recorder: Recorder,
  to: string,
  request: Pick<Anthropic.MessageCreateParams, 'messages' | 'system'>,
  sessionId: string,
) {
  const { client } = clientOf([sends(to)], { middleware: [actlog.middleware({ recorder })] });
  const settings = { ...params, ...request, tools: actlog([send], { recorder }) };
  await client.beta.messages
    .toolRunner(settings as never, { openTelemetry: { conversationId: sessionId } })
    .runUntilDone();
}

test('the middleware sees text blocks of the user and the system prompt, and no results as texts', async () => {
  const recorder = traced();
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: [{ type: 'text', text: pay }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_before', name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_before', content: address }] },
  ];
  const system = [{ type: 'text' as const, text: 'Questions go to treasury@northwind.example.' }];
  for (const to of [account, 'treasury@northwind.example'])
    await runSend(recorder, to, { messages, system }, 'blocks');
  await runSend(recorder, address, { messages, system }, 'blocks');
  const [user, developer, tool] = await originsOf('blocks');
  expect([user, developer]).toEqual([{ from: 'user' }, { from: 'system' }]);
  expect(tool?.from).not.toBe('user');
});

test('the middleware notes texts in the session of the conversation', async () => {
  const recorder = traced();
  await runSend(recorder, account, { messages: [{ role: 'user', content: pay }] }, 'one');
  await runSend(recorder, account, { messages: [{ role: 'user', content: 'go' }] }, 'two');
  expect(await originsOf('one')).toEqual([{ from: 'user' }]);
  expect(await originsOf('two')).toEqual([{ from: 'model' }]);
});

test('the middleware ignores requests without tools, such as those for a summary', async () => {
  const recorder = traced();
  const middleware = [actlog.middleware({ recorder })];
  const { client } = clientOf([], { middleware });
  const openTelemetry = { conversationId: 'summary' };
  const messages = [{ role: 'user' as const, content: `Summarize: ${pay}` }];
  await client.messages.create({ ...params, messages }, { openTelemetry });
  await runSend(recorder, account, { messages: [{ role: 'user', content: 'go' }] }, 'summary');
  expect(await originsOf('summary')).toEqual([{ from: 'model' }]);
});

test('does not take the prompt of an agent in a tool, written by a model, for a text of the user', async () => {
  const recorder = traced();
  const middleware = [actlog.middleware({ recorder })];
  const openTelemetry = { conversationId: 'inner' };
  const ask = betaZodTool({
    name: 'ask',
    description: 'Asks.',
    inputSchema: z.object({}),
    run: async () => {
      await runSend(recorder, account, { messages: [{ role: 'user', content: pay }] }, 'inner');
      return 'Asked.';
    },
  });
  const { client } = clientOf([[toolUse('ask', {})]], { middleware });
  const messages = [{ role: 'user' as const, content: 'go' }];
  const tools = actlog([ask], { recorder });
  await client.beta.messages.toolRunner({ ...params, messages, tools }, { openTelemetry }).runUntilDone();
  expect(await originsOf('inner')).toEqual([{ from: 'model' }]);
});

test('the call runner sees the messages and the system prompt that are passed, and the blocks of results', async () => {
  const functions = {
    send: () => 'Sent.',
    read: () => [{ type: 'text' as const, text: JSON.stringify({ address }) }],
  };
  const options = { recorder: traced(), sessionId: 'call-runner' };
  const runCalls = actlog.callRunner<string | { type: 'text'; text: string }[]>(functions, options);
  const messages = [{ role: 'user', content: pay }];
  const system = 'Questions go to treasury@northwind.example.';
  await runCalls(messageOf(toolUse('read', {})), { messages, system });
  for (const to of [account, 'treasury@northwind.example', address])
    await runCalls(messageOf(toolUse('send', { to })), { messages, system });
  expect(await originsOf('call-runner')).toMatchObject([
    { from: 'user' },
    { from: 'system' },
    { from: 'tool', as: 'field', toolName: 'read' },
  ]);
});

test('leaves the agent alone when the messages cannot be read', async () => {
  const runCalls = actlog.callRunner(
    { send: () => 'Sent.' },
    { recorder: traced(), sessionId: 'unreadable' },
  );
  const message = {
    role: 'user',
    get content(): string {
      throw new Error('unreadable');
    },
  };
  const result = await runCalls(messageOf(toolUse('send', { to: account })), { messages: [message] });
  expect(result?.content).toMatchObject([{ content: 'Sent.' }]);
  expect(await originsOf('unreadable')).toEqual([{ from: 'model' }]);
});
