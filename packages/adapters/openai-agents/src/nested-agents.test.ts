import { Service } from '@actlog/adapter-suite';
import { Agent, MemorySession, run } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

test('records a handoff agent under its own name, but not the handoff', async () => {
  const { echo } = tools();
  const billing = new Agent({
    name: 'billing',
    model: modelOf([[{ name: 'echo', args: { text: 'b' } }]]),
    tools: [echo],
  });
  const triage = new Agent({
    name: 'triage',
    model: modelOf([[{ name: 'echo', args: { text: 'a' } }], [{ name: 'transfer_to_billing', args: {} }]]),
    tools: [echo],
    handoffs: [billing],
  });
  actlog(triage, { recorder: service.recorder() });
  const result = await run(triage, 'go', inSession('handoff'));
  expect(result.finalOutput).toBe('done');
  expect(await service.events('handoff')).toEqual([
    { sessionId: 'handoff', agentId: 'triage', toolName: 'echo', status: 200 },
    { sessionId: 'handoff', agentId: 'billing', toolName: 'echo', status: 200 },
  ]);
  expect(await service.innerCalls('handoff')).toEqual(['billing in triage: echo']);
});

test('records each call of an agent tool once, in the session of the outer run', async () => {
  const { echo, ran } = tools();
  const inner = new Agent({
    name: 'inner',
    model: modelOf([[{ name: 'echo', args: { text: 'deep' } }]]),
    tools: [echo],
  });
  const outer = new Agent({
    name: 'outer',
    model: modelOf([[{ name: 'ask_inner', args: { input: 'please' } }]]),
    tools: [inner.asTool({ toolName: 'ask_inner', toolDescription: 'Asks the inner agent.' })],
  });
  actlog(outer, { recorder: service.recorder() });
  await run(outer, 'go', inSession('as-tool'));
  expect(ran).toEqual(['echo deep']);
  expect(await service.events('as-tool')).toEqual([
    { sessionId: 'as-tool', agentId: 'inner', toolName: 'echo', status: 200 },
    { sessionId: 'as-tool', agentId: 'outer', toolName: 'ask_inner', status: 200 },
  ]);
  expect(await service.innerCalls('as-tool')).toEqual(['inner in outer: echo']);
});

test('applies the policies of the agents above to a handoff agent and to an agent tool', async () => {
  const { echo, ran } = tools();
  const call = [{ name: 'echo', args: { text: 'x' } }];
  const billing = new Agent({ name: 'billing', model: modelOf([call, call]), tools: [echo] });
  const triage = new Agent({
    name: 'triage',
    model: modelOf([[{ name: 'transfer_to_billing', args: {} }]]),
    handoffs: [billing],
  });
  const lead = new Agent({
    name: 'lead',
    model: modelOf([[{ name: 'ask_billing', args: { input: 'please' } }]]),
    tools: [billing.asTool({ toolName: 'ask_billing', toolDescription: 'Asks billing.' })],
  });
  const { policies } = service.client;
  const match = { agents: ['triage', 'lead'], tools: ['echo'] };
  const { id } = await policies.create({ name: 'no echo', effect: 'deny', match });
  for (const agent of [triage, lead]) {
    actlog(agent, { recorder: service.guarded() });
    await run(agent, 'go', inSession('above'));
  }
  await policies.archive(id);
  expect(ran).toEqual([]);
  expect((await service.callLines('above')).filter((line) => line.includes('echo'))).toEqual([
    'billing echo 403',
    'billing echo 403',
  ]);
});

test('names inner agents as subagents of the agent id of the options', async () => {
  const { echo } = tools();
  const call = [{ name: 'echo', args: { text: 'x' } }];
  const deep = new Agent({ name: 'deep', model: modelOf([call]), tools: [echo] });
  const billing = new Agent({
    name: 'billing',
    model: modelOf([call, [{ name: 'ask_deep', args: { input: 'please' } }]]),
    tools: [echo, deep.asTool({ toolName: 'ask_deep', toolDescription: 'Asks deep.' })],
  });
  const triage = new Agent({
    name: 'triage',
    model: modelOf([call, [{ name: 'transfer_to_billing', args: {} }]]),
    tools: [echo],
    handoffs: [billing],
  });
  actlog(triage, { recorder: service.recorder(), agentId: 'support' });
  await run(triage, 'go', inSession('subagents'));
  expect(await service.callLines('subagents')).toHaveLength(4);
  expect((await service.innerCalls('subagents')).sort()).toEqual([
    'support · billing: ask_deep',
    'support · billing: echo',
    'support · deep: echo',
  ]);
});

test('reports a denial inside an agent tool to that agent', async () => {
  const { policies } = service.client;
  const { id } = await service.denyTool('echo');
  const { echo, ran } = tools();
  const inner = new Agent({
    name: 'inner',
    model: modelOf([[{ name: 'echo', args: { text: 'x' } }]]),
    tools: [echo],
  });
  const outer = new Agent({
    name: 'outer',
    model: modelOf([[{ name: 'ask_inner', args: { input: 'please' } }]]),
    tools: [inner.asTool({ toolName: 'ask_inner', toolDescription: 'Asks the inner agent.' })],
  });
  actlog(outer, { recorder: service.guarded() });
  const result = await run(outer, 'go', inSession('as-tool-denied'));
  await policies.archive(id);
  expect(result.finalOutput).toBe('done');
  expect(ran).toEqual([]);
  const lines = await service.callLines('as-tool-denied');
  expect(lines.sort()).toEqual(['inner echo 403', 'outer ask_inner 200']);
});

test("uses the nearest adapter: an agent's own rather than the process's", async () => {
  const { echo } = tools();
  const model = () => modelOf([[{ name: 'echo', args: { text: 'x' } }]]);
  const own = actlog(new Agent({ name: 'own', model: model(), tools: [echo] }), {
    recorder: service.recorder(),
    agentId: 'of-the-agent',
  });
  const other = new Agent({ name: 'other', model: model(), tools: [echo] });
  const stop = actlog.install({ recorder: service.recorder(), agentId: 'of-the-process' });
  await run(own, 'go', inSession('nearest'));
  await run(other, 'go', inSession('nearest'));
  stop();
  other.model = model();
  await run(other, 'go', inSession('nearest'));
  expect(await service.events('nearest')).toMatchObject([
    { agentId: 'of-the-agent' },
    { agentId: 'of-the-process' },
  ]);
});
