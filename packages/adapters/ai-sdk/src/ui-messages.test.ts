import { Service } from '@actlog/adapter-suite';
import * as ai from 'ai';
import {
  convertToModelMessages,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
} from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf } from '../tests/model.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = tool({
  description: 'Says it again.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => `echo: ${text}`,
});

/** Installs the adapter in a request's run. */
type Install = (options: Omit<ActlogOptions, 'guard'>) => object;

const wrapped: Install = (options) => ({ tools: actlog({ echo }, options) });
const traced: Install = (options) => ({
  tools: { echo },
  telemetry: { integrations: actlog.telemetry(options) },
});

/** Handles a request as a route of Next.js does, and returns the message that `useChat` then has. */
async function post(body: string, install: () => object): Promise<UIMessage> {
  const { messages } = JSON.parse(body) as { messages: UIMessage[] };
  const [text] = (messages.at(-1)?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const result = streamText({
    model: modelOf([[callOf('echo', { text }, 'call-0')]]),
    messages: await convertToModelMessages(messages),
    stopWhen: stepCountIs(5),
    ...install(),
  });
  let answer: UIMessage | undefined;
  const stream = result.toUIMessageStream({ originalMessages: messages });
  for await (const message of readUIMessageStream({ stream })) answer = message;
  return answer as UIMessage;
}

/** Runs a chat of several turns, and keeps its messages as `useChat` does. */
async function chat(texts: readonly string[], install: () => object): Promise<void> {
  const messages: UIMessage[] = [];
  for (const text of texts) {
    messages.push({ id: `user-${text}`, role: 'user', parts: [{ type: 'text', text }] });
    messages.push(await post(JSON.stringify({ messages }), install));
  }
}

test.each([
  ['actlog(tools)', wrapped],
  ...('registerTelemetry' in ai ? [['actlog.telemetry()', traced] as const] : []),
] as const)('a chat of UI messages is one session, and two are two: %s', async (name, install) => {
  const recorder = service.recorder();
  const agentId = `ui-${name}`;
  const each = () => install({ recorder, agentId });
  await Promise.all([chat(['one', 'two', 'three'], each), chat(['uno', 'due', 'tre'], each)]);
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([3, 3]);
});

test('a chat with an id is its session, in every process', async () => {
  const recorder = service.recorder();
  await chat(['one', 'two'], () => wrapped({ recorder, sessionId: () => 'chat-1' }));
  expect(await service.events('chat-1')).toHaveLength(2);
});
