import { Service } from '@actlog/adapter-suite';
import { type Agent, Message } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, echo, install } from '../tests/bare-agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Returns the numbers of calls in the sessions of an agent. */
async function sizes(agentId: string): Promise<number[]> {
  await service.events('none'); // everything is delivered
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => Number(eventCount)).sort();
}

/** Turns with a call, each followed by a text. */
const calling = (count: number) => Array.from({ length: count }, () => [[echo], []]).flat();

function stored(agent: Agent): object[] {
  return JSON.parse(JSON.stringify(agent.messages)) as object[];
}

function load(agent: Agent, messages: object[]): void {
  agent.messages.splice(0, agent.messages.length, ...messages.map((data) => Message.fromJSON(data as never)));
}

test.each(['process', 'agent'] as const)(
  'uses one session per chat if one agent serves two, covered by the %s',
  async (place) => {
    const recorder = service.recorder();
    const interventions = place === 'agent' ? [actlog({ recorder })] : [];
    if (place === 'process') install({ recorder });
    const { agent } = agentOf(`two-chats-${place}`, calling(5), { interventions });
    await agent.invoke('one');
    const first = stored(agent);
    load(agent, []);
    await agent.invoke('another');
    const second = stored(agent);
    load(agent, first);
    await agent.invoke('more of one');
    await agent.invoke('and more');
    load(agent, second);
    await agent.invoke('more of the other');
    expect(await sizes(`two-chats-${place}`)).toEqual([2, 3]);
  },
);

test('continues the session of a chat that had no calls yet, and of one whose start is cut off', async () => {
  install({ recorder: service.recorder() });
  const { agent } = agentOf('continued', [[], [], [echo], [], [], [echo], []]);
  for (const text of ['hello', 'again', 'go', 'thanks', 'go on']) {
    await agent.invoke(text);
    agent.messages.splice(0, Math.max(0, agent.messages.length - 2));
  }
  expect(await sizes('continued')).toEqual([2]);
});
