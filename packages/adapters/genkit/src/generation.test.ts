import { Service } from '@actlog/adapter-suite';
import { dynamicTool, z } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ai, modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = { name: 'echo', input: { text: 'a' } };

test('without a session in the context, a generation is one session, and another is another', async () => {
  const use = [actlog({ recorder: service.recorder({ agentId: 'no-session' }) })];
  const own = tools();
  for (let run = 0; run < 2; run += 1) {
    await ai.generate({ ...modelOf([[echo], [echo]]), prompt: 'go', tools: [own.echo], use });
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('no-session').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('a generation within a tool is in the session of the outer one', async () => {
  const recorder = service.recorder({ agentId: 'nested' });
  const own = tools();
  const use = [actlog({ recorder })];
  const ask = dynamicTool(
    { name: 'ask', description: 'Asks the inner one.', inputSchema: z.object({}) },
    async () => (await ai.generate({ ...modelOf([[echo]]), prompt: 'go', tools: [own.echo], use })).text,
  );
  await ai.generate({ ...modelOf([[{ name: 'ask', input: {} }]]), prompt: 'go', tools: [ask], use });
  await service.events('none');
  const sessions = await service.client.agents.sessions('nested').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2]);
});

test('what one call of a conversation leaves goes on in the next', async () => {
  const recorder = service.recorder({ agentId: 'goes-on' });
  const own = tools();
  const messages = [{ role: 'user' as const, content: [{ text: 'go' }] }];
  const use = [actlog({ recorder })];
  const script = modelOf([[echo], [], [echo]]);
  const first = await ai.generate({ ...script, messages, tools: [own.echo], use });
  const next = [...messages, ...first.messages.slice(1), ...messages];
  await ai.generate({ ...script, messages: next, tools: [own.echo], use });
  await service.events('none');
  const sessions = await service.client.agents.sessions('goes-on').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2]);
});

test('a generation that has only instructions is one session', async () => {
  const use = [actlog({ recorder: service.recorder({ agentId: 'instructed' }) })];
  for (let run = 0; run < 2; run += 1) {
    const own = tools();
    await ai.generate({ ...modelOf([[echo], [echo]]), system: 'Begin.', tools: [own.echo], use });
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('instructed').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});
