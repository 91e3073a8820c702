import { Service } from '@actlog/adapter-suite';
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

const settings = { model: 'scripted', max_tokens: 100 };
const said = [{ type: 'text', text: 'done' }];

function echo(run: () => Promise<string> | string = () => 'ran', name = 'echo') {
  return betaZodTool({
    name,
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    run,
  });
}

/** Runs one turn of a chat to its end and returns all its messages. */
async function turnOf(
  client: Anthropic,
  tools: ReturnType<typeof echo>[],
  messages: Anthropic.Beta.BetaMessageParam[],
) {
  const runner = client.beta.messages.toolRunner({ ...settings, messages, tools });
  await runner;
  return runner.params.messages;
}

/** Returns the number of calls in each session of an agent. */
async function callsBySession(agentId: string): Promise<(number | undefined)[]> {
  await service.events('none');
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => eventCount);
}

test('two chats with the same tools are two sessions without the middleware', async () => {
  const tools = actlog([echo()], { recorder: service.recorder(), agentId: 'chats' });
  const chats = [1, 2].map(async (chat) => {
    const { client } = clientOf([
      [toolUse('echo', { text: 'a' })],
      said,
      [toolUse('echo', { text: 'b' })],
      said,
    ]);
    let messages: Anthropic.Beta.BetaMessageParam[] = [];
    for (const content of ['go', 'go on']) {
      messages = await turnOf(client, tools, [...messages, { role: 'user', content: `${content} ${chat}` }]);
    }
  });
  await Promise.all(chats);
  expect(await callsBySession('chats')).toEqual([2, 2]);
});

test('two streams read by their callers are two sessions with `runToolsEagerly`', async () => {
  const tools = actlog([echo()], { recorder: service.recorder(), agentId: 'eager' });
  const runs = [1, 2].map(async () => {
    const { client } = clientOf([[toolUse('echo', { text: 'a' }), toolUse('echo', { text: 'b' })], said]);
    const messages = [{ role: 'user' as const, content: 'go' }];
    const eager = { stream: true, runToolsEagerly: true } as const;
    for await (const stream of client.beta.messages.toolRunner({ ...settings, ...eager, messages, tools })) {
      for await (const _ of stream); // a tool starts when its reader goes on
    }
  });
  await Promise.all(runs);
  expect(await callsBySession('eager')).toEqual([2, 2]);
});

test('a call that the caller runs with `generateToolResponse` is in the session of its runner', async () => {
  const tools = actlog([echo()], { recorder: service.recorder(), agentId: 'generating' });
  for (const content of ['one', 'two']) {
    const { client } = clientOf([[toolUse('echo', { text: 'a' })], [toolUse('echo', { text: 'a' })], said]);
    const messages = [{ role: 'user' as const, content }];
    const runner = client.beta.messages.toolRunner({ ...settings, messages, tools });
    for await (const _ of runner) await runner.generateToolResponse();
  }
  expect(await callsBySession('generating')).toEqual([2, 2]);
});

test('invalid arguments are in the session of their runner', async () => {
  const tools = actlog([echo()], { recorder: service.recorder(), agentId: 'invalid' });
  for (const content of ['one', 'two']) {
    const { client } = clientOf([[toolUse('echo', {})], said]);
    await turnOf(client, tools, [{ role: 'user', content }]);
  }
  expect(await callsBySession('invalid')).toEqual([1, 1]);
});

test('a runner inside a tool is in the session of the outer one', async () => {
  const options = { recorder: service.recorder(), agentId: 'inner' };
  const { client: inner } = clientOf([[toolUse('echo', { text: 'a' })], said]);
  const ask = echo(async () => {
    await turnOf(inner, actlog([echo()], options), [{ role: 'user', content: 'inside' }]);
    return 'asked';
  });
  const { client } = clientOf([[toolUse('echo', { text: 'b' })], said]);
  await turnOf(client, actlog([ask], options), [{ role: 'user', content: 'go' }]);
  expect(await callsBySession('inner')).toEqual([2]);
});

test('a runner whose model repeats a denied call rejects, also for those who wait for it', async () => {
  const { id } = await service.denyTool('echo');
  const tools = actlog([echo()], { recorder: service.guarded(), sessionId: 'repeating' });
  const { client, sent } = clientOf(Array.from({ length: 20 }, () => [toolUse('echo', { text: 'a' })]));
  const messages = [{ role: 'user' as const, content: 'go' }];
  const runner = client.beta.messages.toolRunner({ ...settings, messages, tools });
  const rejection = { name: 'ActionDeniedError' };
  await Promise.all([
    expect(runner.done()).rejects.toMatchObject(rejection),
    expect(runner.runUntilDone()).rejects.toMatchObject(rejection),
  ]);
  await service.client.policies.archive(id);
  expect(sent).toHaveLength(6);
  expect(await service.callLines('repeating')).toEqual(Array(5).fill('tester echo 403'));
});

test('a runner ends whose model repeats a call that runs another until that is ended', async () => {
  const { id } = await service.denyTool('echo');
  const options = { recorder: service.guarded(), sessionId: 'nested' };
  const endless = (name: string) => Array.from({ length: 30 }, () => [toolUse(name, { text: 'a' })]);
  const ask = echo(async () => {
    const { client } = clientOf(endless('echo'));
    await turnOf(client, actlog([echo()], options), [{ role: 'user', content: 'inside' }]);
    return 'asked';
  }, 'ask');
  const { client, sent } = clientOf(endless('ask'));
  const run = turnOf(client, actlog([ask], options), [{ role: 'user', content: 'go' }]);
  await expect(run).rejects.toMatchObject({ name: 'ActionDeniedError' });
  await service.client.policies.archive(id);
  expect(sent).toHaveLength(6);
});

test('a runner that serves a whole chat counts the denials of each message of the user', async () => {
  const { id } = await service.denyTool('echo');
  const tools = actlog([echo()], { recorder: service.guarded(), sessionId: 'whole-chat' });
  const denied = [toolUse('echo', { text: 'a' })];
  const { client, sent } = clientOf([denied, denied, denied, said, denied, denied, denied, said]);
  const messages = [{ role: 'user' as const, content: 'go' }];
  const runner = client.beta.messages.toolRunner({ ...settings, messages, tools });
  for await (const { stop_reason } of runner) {
    if (stop_reason === 'end_turn' && sent.length === 4) {
      runner.pushMessages({ role: 'user', content: 'and again' });
    }
  }
  await service.client.policies.archive(id);
  expect(sent).toHaveLength(8);
});
