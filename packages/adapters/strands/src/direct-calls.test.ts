import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tools } from '../tests/agent.ts';
import { agentOf, echo, install } from '../tests/bare-agent.ts';
import { actlog } from './index.ts';

// The oldest Strands has no direct calls.
beforeEach(({ task, skip }) => skip(task.file.projectName === 'strands-lowest'));

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

test.each(['process', 'agent'])(
  'records and guards direct calls of a tool, covered by the %s',
  async (place) => {
    const adapter = { recorder: service.guarded(), sessionId: `direct-${place}` };
    if (place === 'process') install(adapter);
    const interventions = place === 'agent' ? [actlog(adapter)] : [];
    const { agent, ran } = agentOf('direct', [[echo]], { interventions });
    expect(await agent.tool.echo?.invoke({ text: 'by hand' })).toMatchObject({ status: 'success' });
    await expect(agent.tool.fail?.invoke({})).rejects.toThrow('Never fail.');
    await agent.invoke('go');
    expect(ran).toEqual(['echo by hand', 'echo x']);
    expect(await service.callLines(`direct-${place}`)).toEqual([
      'direct echo 200',
      'direct fail 403',
      'direct echo 200',
    ]);
  },
);

test('records a direct call of a wrapped tool once, and none of an agent that is not covered', async () => {
  const recorder = service.recorder();
  const options = { recorder, sessionId: 'direct-wrapped', agentId: 'wrapped' };
  const { agent } = agentOf('any', [], { tools: actlog.tools([tools().echo], options) });
  const { agent: bare } = agentOf('bare', []);
  const stop = install({ recorder, sessionId: 'direct-of-process' });
  await agent.tool.echo?.invoke({ text: 'x' });
  stop();
  await bare.tool.echo?.invoke({ text: 'x' });
  expect(await service.callLines('direct-wrapped')).toEqual(['wrapped echo 200']);
  expect(await service.events('direct-of-process')).toEqual([]);
});
