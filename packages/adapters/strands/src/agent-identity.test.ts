import { Service } from '@actlog/adapter-suite';
import { Agent } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const turn = [{ name: 'echo', args: { text: 'a' } }];

test('uses one session per agent without a session manager', async () => {
  const { echo } = tools();
  const interventions = () => [actlog({ recorder: service.recorder({ agentId: 'no-session' }) })];
  const create = () =>
    new Agent({
      model: modelOf([turn, [], turn]),
      tools: [echo],
      interventions: interventions(),
      printer: false,
    });
  const first = create();
  await first.invoke('go');
  await first.invoke('go on');
  await create().invoke('go');
  await service.events('none');
  const sessions = await service.client.agents.sessions('no-session').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 2]);
});

test('records each call of an agent tool once, under its name, in one session', async () => {
  const recorder = service.recorder();
  const { echo } = tools();
  const inner = new Agent({
    id: 'inner',
    name: 'researcher',
    description: 'Looks things up.',
    model: modelOf([turn]),
    tools: [echo],
    interventions: [actlog({ recorder })],
    printer: false,
  });
  const outer = new Agent({
    name: 'writer',
    model: modelOf([[{ name: 'researcher', args: { input: 'what?' } }]]),
    tools: [inner],
    interventions: [actlog({ recorder, sessionId: () => undefined })],
    printer: false,
  });
  await outer.invoke('go');
  await service.events('none');
  const [session] = await service.client.agents.sessions('writer').toArray({ limit: 10 });
  expect(await service.events(session?.id ?? '')).toMatchObject([
    { agentId: 'inner', toolName: 'echo', status: 200 },
    { agentId: 'writer', toolName: 'researcher', status: 200 },
  ]);
});
