import { Service } from '@actlog/adapter-suite';
import { Agent, MemorySession, Runner, RunState, run, tool } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

/** Creates an agent whose tool asks its own user for approval. */
function careful(needsApproval: boolean | ((context: unknown, args: unknown) => Promise<boolean>) = true) {
  const ran: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.coerce.number<number>() }),
    needsApproval,
    execute: ({ amount }) => {
      ran.push(`pay ${amount + 1}`);
      return 'paid';
    },
  });
  const model = modelOf([[{ name: 'pay', args: { amount: '5' } }]]);
  return { ran, agent: new Agent({ name: 'careful', model, tools: [pay] }) };
}

test('records a call approved in the SDK once, when it runs', async () => {
  const { agent, ran } = careful();
  actlog(agent, { recorder: service.recorder() });
  const held = await run(agent, 'go', inSession('approved'));
  expect(await service.events('approved')).toEqual([]);
  const [interruption] = held.interruptions ?? [];
  if (!interruption) throw new Error('The run was not interrupted.');
  held.state.approve(interruption);
  const result = await run(agent, held.state, inSession('approved'));
  expect(result.finalOutput).toBe('done');
  expect(ran).toEqual(['pay 6']);
  expect(await service.events('approved')).toMatchObject([{ toolName: 'pay', status: 200 }]);
});

test('records a call rejected in the SDK as denied', async () => {
  const { agent, ran } = careful();
  actlog(agent, { recorder: service.recorder() });
  const held = await run(agent, 'go', inSession('rejected'));
  for (const interruption of held.interruptions ?? []) held.state.reject(interruption);
  await run(agent, held.state, inSession('rejected'));
  expect(ran).toEqual([]);
  expect(await service.events('rejected')).toEqual([
    { sessionId: 'rejected', agentId: 'careful', toolName: 'pay', status: 403 },
  ]);
});

test('records a rejected call as denied if its result ends the run', async () => {
  const { agent } = careful();
  agent.toolUseBehavior = 'stop_on_first_tool';
  actlog(agent, { recorder: service.recorder() });
  const { state } = await run(agent, 'go', inSession('rejected-at-the-end'));
  for (const interruption of state.getInterruptions()) state.reject(interruption);
  await run(agent, state, inSession('rejected-at-the-end'));
  expect(await service.events('rejected-at-the-end')).toMatchObject([{ toolName: 'pay', status: 403 }]);
});

test('guards a run resumed from serialized state without recording calls again', async () => {
  const { policies } = service.client;
  const { id } = await service.denyTool('pay');
  const { agent, ran } = careful();
  const { echo } = tools();
  agent.tools.push(echo);
  agent.model = modelOf([[{ name: 'echo', args: { text: 'x' } }], [{ name: 'pay', args: { amount: '5' } }]]);
  actlog(agent, { recorder: service.guarded() });
  const held = await run(agent, 'go', inSession('serialised'));
  const state = await RunState.fromString(agent, held.state.toString());
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  const result = await run(agent, state, inSession('serialised'));
  await policies.archive(id);
  expect(ran).toEqual([]);
  expect(toolResultsOf(result.newItems).at(-1)).toContain('The call of the tool "pay" was not run');
  expect(await service.events('serialised')).toMatchObject([
    { toolName: 'echo', status: 200 },
    { toolName: 'pay', status: 403 },
  ]);
});

test('passes the same arguments to an approval rule as without the adapter', async () => {
  const given: unknown[] = [];
  const rule = async (_context: unknown, args: unknown) => given.push(args) === 0;
  for (const isRecorded of [false, true]) {
    const { agent } = careful(rule);
    if (isRecorded) actlog(agent, { recorder: service.recorder() });
    await run(agent, 'go', inSession('rule'));
  }
  expect(given).toHaveLength(2);
  expect(given[1]).toEqual(given[0]);
});

test('checks a call in guardrails before the approval, and records it when it runs', async () => {
  const { agent, ran } = careful();
  actlog(agent, { recorder: service.guarded() });
  const runner = new Runner({ toolExecution: { preApprovalInputGuardrails: true } });
  const held = await runner.run(agent, 'go', inSession('pre-approval'));
  expect(await service.events('pre-approval')).toEqual([]);
  for (const interruption of held.interruptions ?? []) held.state.approve(interruption);
  await runner.run(agent, held.state, inSession('pre-approval'));
  expect(ran).toEqual(['pay 6']);
  expect(await service.events('pre-approval')).toMatchObject([{ toolName: 'pay', status: 200 }]);
});

test.each([
  ['', undefined],
  [' of whose run something else is told', () => 'what there is of it'],
])(
  'records an agent tool that waits for an approval once, when it has finished%s',
  async (_case, customOutputExtractor) => {
    const { agent, ran } = careful();
    const toolOptions = {
      toolName: 'ask',
      toolDescription: 'Asks.',
      ...(customOutputExtractor && { customOutputExtractor }),
    };
    const outer = new Agent({
      name: 'outer',
      model: modelOf([[{ name: 'ask', args: { input: 'pay' } }]]),
      tools: [agent.asTool(toolOptions)],
    });
    actlog(outer, { recorder: service.recorder() });
    const sessionId = `nested-approval${_case}`;
    const held = await run(outer, 'go', inSession(sessionId));
    expect(held.interruptions).toHaveLength(1);
    expect(await service.events(sessionId)).toEqual([]);
    for (const interruption of held.interruptions ?? []) held.state.approve(interruption);
    await run(outer, held.state, inSession(sessionId));
    expect(ran).toEqual(['pay 6']);
    expect(await service.events(sessionId)).toMatchObject([
      { agentId: 'careful', toolName: 'pay', status: 200 },
      { agentId: 'outer', toolName: 'ask', status: 200 },
    ]);
  },
);

test('records a tool that returns while its own agent waits for an approval', async () => {
  const { agent, ran } = careful();
  const ask = tool({
    name: 'ask',
    description: 'Asks.',
    parameters: z.object({}),
    execute: async () => ((await run(agent, 'pay')).interruptions?.length ? '' : 'paid'),
  });
  const outer = new Agent({ name: 'outer', model: modelOf([[{ name: 'ask', args: {} }]]), tools: [ask] });
  actlog(outer, { recorder: service.recorder() });
  await run(outer, 'go', inSession('own-result'));
  expect(ran).toEqual([]);
  expect(await service.events('own-result')).toMatchObject([
    { agentId: 'outer', toolName: 'ask', status: 200 },
  ]);
});
