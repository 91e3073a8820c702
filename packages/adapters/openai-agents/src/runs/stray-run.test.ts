import { Service } from '@actlog/adapter-suite';
import { Agent, Runner } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, toolResultsOf, tools } from '../../tests/agent.ts';
import { hookedMethods } from '../actlog.ts';
import { actlog } from '../index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('guards a run whose method was looked up before the first install', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['echo'] },
    message: 'Not now.',
  });
  const { echo, ran } = tools();
  const agent = new Agent({
    name: 'early',
    model: modelOf([[{ name: 'echo', args: { text: 'x' } }]]),
    tools: [echo],
  });
  // Same as `runner.run(actlog(agent), 'go')` as the first use of actlog in a process.
  actlog(agent, { recorder: service.guarded(), sessionId: 'early' });
  const run = hookedMethods.original(Runner.prototype, 'run') as Runner['run'] | undefined;
  const result = await run?.call(new Runner(), agent, 'go');
  await service.client.policies.archive(id);
  expect(ran).toEqual([]);
  expect(toolResultsOf(result?.newItems ?? [])[0]).toContain('Not now.');
  expect(await service.events('early')).toMatchObject([{ toolName: 'echo', status: 403 }]);
});
