import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolOf, withModel } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const model = 'scripted';
const tools = [toolOf({ echo: () => 'ran' })];
const echo = [{ name: 'echo' }];

/** Returns the number of events of each session of an agent. */
async function eventCounts(agentId: string) {
  await service.events('none');
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => eventCount).sort();
}

test('uses one session per chat, though two chats have the same words and no history of calls', async () => {
  const turns = [echo, [], echo, [], echo, [], echo, []];
  await withModel(turns, async (client) => {
    const { chats } = actlog(client, { recorder: service.recorder(), agentId: 'chats' });
    const config = { tools, automaticFunctionCalling: { ignoreCallHistory: true } };
    const [one, other] = [chats.create({ model, config }), chats.create({ model, config })];
    await one.sendMessage({ message: 'go' });
    await other.sendMessage({ message: 'go' });
    for await (const _ of await one.sendMessageStream({ message: 'more' }));
    await one.sendMessage({ message: 'more' });
  });
  expect(await eventCounts('chats')).toEqual([1, 3]);
});

test('continues the session of a chat that is restored from its history', async () => {
  await withModel([echo, [], echo, []], async (client) => {
    const { chats } = actlog(client, { recorder: service.recorder(), agentId: 'restored' });
    const chat = chats.create({ model, config: { tools } });
    await chat.sendMessage({ message: 'go' });
    const history = JSON.parse(JSON.stringify(chat.getHistory()));
    await chats.create({ model, config: { tools }, history }).sendMessage({ message: 'more' });
  });
  expect(await eventCounts('restored')).toEqual([2]);
});

test('keeps a chat in the session of its first calls, also when that was a surrounding one', async () => {
  const recorder = service.recorder();
  await withModel([echo, [], echo, []], async (client) => {
    const chat = actlog(client, { recorder, agentId: 'within' }).chats.create({ model, config: { tools } });
    await recorder.session('ticket-7').run(() => chat.sendMessage({ message: 'go' }));
    await chat.sendMessage({ message: 'more' });
  });
  expect(await service.events('ticket-7')).toHaveLength(2);
});

test('uses one session per conversation of requests', async () => {
  const turns = [echo, [], echo, [], echo, []];
  await withModel(turns, async (client) => {
    const { models } = actlog(client, { recorder: service.recorder(), agentId: 'talker' });
    const user = (text: string) => ({ role: 'user', parts: [{ text }] });
    const first = user('go');
    const { automaticFunctionCallingHistory: history = [] } = await models.generateContent({
      model,
      contents: [first],
      config: { tools },
    });
    await models.generateContent({ model, contents: [...history, user('more')], config: { tools } });
    await models.generateContent({ model, contents: ['go'], config: { tools } });
  });
  expect(await eventCounts('talker')).toEqual([1, 2]);
});
