import { Service } from '@actlog/adapter-suite';
import { Agent, handoff, MemorySession, Runner, RunState, run } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });
const echo = (text: string) => ({ name: 'echo', args: { text } });
const toBilling = { name: 'transfer_to_billing', args: {} };

function team(triageTurns: Parameters<typeof modelOf>[0] = [[toBilling]]) {
  const { echo: tool } = tools();
  const billing = new Agent({
    name: 'billing',
    model: modelOf([[echo('first')]]),
    tools: [tool],
  });
  const triage = new Agent({
    name: 'triage',
    model: modelOf(triageTurns),
    tools: [tool],
    handoffs: [billing],
  });
  return { billing, triage, tool };
}

const by = async (sessionId: string) => (await service.events(sessionId)).map(({ agentId }) => agentId);

test('covers a run that continues with the last agent of a covered run', async () => {
  const { billing, triage } = team();
  actlog(triage, { recorder: service.recorder() });
  const { lastAgent, history } = await run(triage, 'go', inSession('first'));
  expect(lastAgent).toBe(billing);
  billing.model = modelOf([[echo('again')]]);
  await run(billing, [...history, { role: 'user', content: 'and?' }], inSession('continued'));
  expect(await by('first')).toEqual(['billing']);
  expect(await by('continued')).toEqual(['billing']);
});

test('covers handoff agents before they are reached, as in another process', async () => {
  const { billing, triage } = team();
  const deep = new Agent({ name: 'deep', model: modelOf([[echo('x')]]), tools: [tools().echo] });
  billing.handoffs.push(handoff(deep), triage);
  actlog(triage, { recorder: service.recorder() });
  await run(billing, 'go', inSession('not-reached'));
  await run(deep, 'go', inSession('not-reached'));
  expect(await by('not-reached')).toEqual(['billing', 'deep']);
});

test('keeps covering agents reached by a later handoff or as a tool, and their clones', async () => {
  const { triage, tool } = team([
    [{ name: 'ask_inner', args: { input: 'please' } }],
    [{ name: 'transfer_to_late', args: {} }],
  ]);
  const inner = new Agent({ name: 'inner', model: modelOf([[echo('x')]]), tools: [tool] });
  const late = new Agent({ name: 'late', model: modelOf([[echo('x')]]), tools: [tool] });
  actlog(triage, { recorder: service.recorder() });
  triage.tools.push(inner.asTool({ toolName: 'ask_inner', toolDescription: 'Asks the inner agent.' }));
  triage.handoffs.push(late);
  await run(triage, 'go', inSession('reaching'));
  for (const agent of [inner, late]) {
    await run(agent.clone({ model: modelOf([[echo('y')]]) }), 'go', inSession('reached'));
  }
  expect(await by('reached')).toEqual(['inner', 'late']);
});

test('covers a serialized run that continues with its handoff agent', async () => {
  const { billing, triage, tool } = team();
  const careful = Object.assign({ ...tool }, { needsApproval: async () => true });
  billing.tools = [careful as never];
  actlog(triage, { recorder: service.recorder() });
  const { state } = await run(triage, 'go', inSession('serialized'));
  const resumed = await RunState.fromString(triage, state.toString());
  for (const approval of resumed.getInterruptions()) resumed.approve(approval);
  await run(billing, resumed, inSession('serialized'));
  expect(await by('serialized')).toEqual(['billing']);
});

test("prefers an agent's own adapter to that of the agent that reaches it", async () => {
  const { billing, triage } = team();
  actlog(billing, { recorder: service.recorder(), agentId: 'own' });
  actlog(triage, { recorder: service.recorder(), agentId: 'of-triage' });
  await run(billing, 'go', inSession('own-first'));
  expect(await by('own-first')).toEqual(['own']);
});

test('does not cover agents beyond a covered runner or process', async () => {
  const { billing, triage } = team();
  const runner = actlog(new Runner(), { recorder: service.recorder() });
  await runner.run(triage, 'go', inSession('by-runner'));
  const stop = actlog.install({ recorder: service.recorder() });
  triage.model = modelOf([[toBilling]]);
  billing.model = modelOf([[echo('x')]]);
  await run(triage, 'go', inSession('by-process'));
  stop();
  billing.model = modelOf([[echo('x')]]);
  await run(billing, 'go', inSession('beyond'));
  expect(await by('by-runner')).toEqual(['billing']);
  expect(await by('by-process')).toEqual(['billing']);
  expect(await by('beyond')).toEqual([]);
});
