import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { Mastra } from '@mastra/core';
import { Agent, type ToolsInput } from '@mastra/core/agent';
import * as durableAgents from '@mastra/core/agent/durable';
import { MockMemory } from '@mastra/core/memory';
import { RequestContext } from '@mastra/core/request-context';
import { InMemoryStore } from '@mastra/core/storage';
import { createCodeMode, createTool, noopObserve, Tool } from '@mastra/core/tools';
import { cloneStep, createStep, createWorkflow } from '@mastra/core/workflows';
import { LocalSandbox } from '@mastra/core/workspace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, askingTool, inMastra, inThread, tools } from '../tests/agent.ts';
import { RouterModel } from '../tests/router-model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  const { policies } = service.client;
  await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail', 'denied'] },
    message: 'Never do that.',
  });
  await service.holdTool('held');
});
afterAll(() => service.close());

/** Returns the recorded events of a session, by agent, sorted. */
async function recorded(session: string) {
  const events = await service.events(session);
  return events.map(({ agentId, toolName, status }) => `${agentId} ${toolName} ${status}`).sort();
}

/** Creates a tool with an output schema, which workflow steps require. */
function doubling(id = 'double') {
  const ran: number[] = [];
  const double = createTool({
    id,
    description: 'Doubles.',
    inputSchema: z.object({ value: z.number() }),
    outputSchema: z.object({ value: z.number() }),
    execute: async ({ value }) => {
      ran.push(value);
      return { value: value * 2 };
    },
  });
  return { ran, double };
}

async function inNetwork(session: string, toolName: string, own: ToolsInput) {
  const model = new RouterModel(toolName, { text: 'a' });
  const memory = new MockMemory();
  const settings = { id: 'tester', name: 'Tester', instructions: 'Do as you are told.' };
  const agent = new Agent({ ...settings, model: model.config, memory, tools: own });
  inMastra({ agent });
  const run = await agent.network('go', { ...inThread(session), maxSteps: 3 });
  for await (const _ of run);
  return { status: await run.status, told: model.told };
}

test("records a tool selected by a network's router under its agent, in its thread", async () => {
  const { echo, ran } = tools();
  const recorder = service.guarded();
  const { status } = await inNetwork('network', 'echo', actlog.tools({ echo }, { recorder }));
  expect(status).toBe('success');
  expect(ran).toEqual(['echo a']);
  expect(await recorded('network')).toEqual(['tester echo 200']);
});

test('does not run a denied tool of a network, and tells the router why', async () => {
  const { fail, ran } = tools();
  const recorder = service.guarded();
  const { status, told } = await inNetwork('network-denied', 'fail', actlog.tools({ fail }, { recorder }));
  expect(status).toBe('success');
  expect(told).toContain('Never do that.');
  expect(ran).toEqual([]);
  expect(await recorded('network-denied')).toEqual(['tester fail 403']);
});

/** Runs a tool as the only step of a workflow. */
async function inWorkflow(
  double: ReturnType<typeof doubling>['double'],
  requestContext = new RequestContext(),
) {
  const value = z.object({ value: z.number() });
  const workflow = createWorkflow({ id: 'doubling', inputSchema: value, outputSchema: value })
    .then(createStep(double))
    .commit();
  new Mastra({ logger: false, workflows: { workflow } });
  const run = await workflow.createRun();
  return run.start({ inputData: { value: 2 }, requestContext });
}

test('records a workflow step, and fails a denied one with the reason', async () => {
  const { double, ran } = doubling();
  const options = { recorder: service.guarded(), sessionId: 'workflow', agentId: 'flow' };
  const wrapped = actlog.tools({ double, denied: double }, options);
  expect(await inWorkflow(wrapped.double)).toMatchObject({ status: 'success', result: { value: 4 } });
  const message = expect.stringContaining('Never do that.');
  expect(await inWorkflow(wrapped.denied)).toMatchObject({ status: 'failed', error: { message } });
  expect(ran).toEqual([2]);
  expect(await recorded('workflow')).toEqual(['flow denied 403', 'flow double 200']);
});

test('uses one session per workflow run by default', async () => {
  const { double } = doubling();
  const wrapped = actlog.tools({ double }, { recorder: service.recorder(), agentId: 'sessions' });
  const value = z.object({ value: z.number() });
  const workflow = createWorkflow({ id: 'twice', inputSchema: value, outputSchema: value })
    .then(createStep(wrapped.double))
    .map(async ({ inputData }) => inputData)
    .then(cloneStep(createStep(wrapped.double), { id: 'again' }))
    .commit();
  new Mastra({ logger: false, workflows: { workflow } });
  for (let run = 0; run < 2; run += 1) {
    const { status } = await (await workflow.createRun()).start({ inputData: { value: 2 } });
    expect(status).toBe('success');
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('sessions').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('uses the surrounding session for a step, else the thread of the request', async () => {
  const recorder = service.recorder();
  const wrapped = actlog.tools({ double: doubling().double }, { recorder });
  const requestContext = new RequestContext();
  requestContext.set('mastra__threadId', 'of-the-request');
  await inWorkflow(wrapped.double, requestContext);
  await recorder.session('around').run(() => inWorkflow(wrapped.double, requestContext));
  expect(await service.events('of-the-request')).toHaveLength(1);
  expect(await service.events('around')).toHaveLength(1);
});

test('records a suspended step once, after it is resumed and has ended', async () => {
  const confirm = createTool({
    id: 'confirm',
    description: 'Asks a person.',
    inputSchema: z.object({}),
    outputSchema: z.object({ answer: z.string() }),
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ answer: z.string() }),
    execute: async (_, { workflow }) => {
      const answer = workflow?.resumeData?.answer;
      if (answer === undefined) await workflow?.suspend({ question: 'Sure?' });
      return { answer: String(answer) };
    },
  });
  const wrapped = actlog.tools({ confirm }, { recorder: service.recorder(), sessionId: 'suspended-step' });
  const workflow = createWorkflow({
    id: 'confirming',
    inputSchema: z.object({}),
    outputSchema: z.object({ answer: z.string() }),
  })
    .then(createStep(wrapped.confirm))
    .commit();
  new Mastra({ logger: false, workflows: { workflow }, storage: new InMemoryStore() });
  const run = await workflow.createRun();
  expect(await run.start({ inputData: {} })).toMatchObject({ status: 'suspended' });
  expect(await service.events('suspended-step')).toEqual([]);
  const resumed = await run.resume({ step: 'confirm', resumeData: { answer: 'yes' } });
  expect(resumed).toMatchObject({ status: 'success', result: { answer: 'yes' } });
  expect(await service.events('suspended-step')).toMatchObject([{ status: 200 }]);
});

test('records and guards calls of code mode programs as calls of the agent', async () => {
  const { double, ran } = doubling();
  const recorder = service.guarded();
  const wrapped = actlog.tools({ double, denied: doubling('denied').double }, { recorder });
  const { tool } = createCodeMode({ tools: wrapped, sandbox: new LocalSandbox() });
  const code = `
    const told = await external_denied({ value: 1 }).catch((error) => error.message);
    return [await external_double({ value: 3 }), told];`;
  const { agent, model } = agentOf({
    id: 'coder',
    turns: [[{ name: tool.id, args: { code } }]],
    tools: { [tool.id]: tool },
    hooks: actlog({ recorder }),
  });
  await agent.generate('go', inThread('code'));
  expect(model.toolResults()[0]?.text).toMatch(/"value":6.*Never do that\./);
  expect(ran).toEqual([3]);
  const events = ['coder denied 403', 'coder double 200', `coder ${tool.id} 200`];
  expect(await recorded('code')).toEqual(events);
});

test('guards a tool added by a step only if it is wrapped', async () => {
  const { ran, fail } = tools();
  const recorder = service.guarded();
  const running = async (session: string, added: ToolsInput) => {
    const { agent } = agentOf({ turns: [[{ name: 'fail', args: {} }]], hooks: actlog({ recorder }) });
    inMastra({ agent });
    await agent.generate('go', { ...inThread(session), prepareStep: () => ({ tools: added }) });
    return recorded(session);
  };
  expect(await running('added-bare', { fail })).toEqual([]);
  expect(ran).toEqual(['fail']);
  expect(await running('added-wrapped', actlog.tools({ fail }, { recorder }))).toEqual(['tester fail 403']);
  expect(ran).toEqual(['fail']);
});

test("counts each call once with wrappers, hooks and exporters, with the model's arguments", async () => {
  const recorder = service.guarded();
  const { echo, fail, ran } = tools();
  const wrapped = actlog.tools(actlog.tools({ 'e c h o': echo, fail }, { recorder }), { recorder });
  const { agent } = agentOf({
    turns: [
      [
        { name: 'e_c_h_o', args: { text: 'a' } },
        { name: 'e_c_h_o', args: { text: 'a' } },
        { name: 'fail', args: {} },
      ],
      [{ name: 'e_c_h_o', args: { text: 5 } }],
    ],
    tools: wrapped,
    hooks: actlog({ recorder }),
  });
  inMastra({ agent }, actlog.exporter({ recorder }));
  await agent.generate('go', inThread('all'));
  expect(ran).toEqual(['echo a', 'echo a']);
  const calls = ['e_c_h_o 200', 'e_c_h_o 200', 'e_c_h_o 400', 'fail 403'].map((call) => `tester ${call}`);
  expect(await recorded('all')).toEqual(calls);
  const stored = await service.storedEvents('all');
  const hashes = stored.map(({ payload }) => payload?.argumentsHash);
  expect(hashes).toContain(await hashArguments({ text: 'a' }));
  expect(hashes).not.toContain(await hashArguments({ text: 'a', times: 1 }));
});

test('counts each call once with only an exporter or with run hooks', async () => {
  const recorder = service.recorder();
  const same = [{ name: 'echo', args: { text: 'a' }, id: 'same' }];
  for (const [session, hooks, exporters] of [
    ['exported', undefined, [actlog.exporter({ recorder })]],
    ['untraced', actlog({ recorder }), []],
    ['traced', actlog({ recorder }), [actlog.exporter({ recorder })]],
  ] as const) {
    const wrapped = actlog.tools({ echo: tools().echo }, { recorder });
    const { agent } = agentOf({ turns: [same, same], tools: wrapped, ...(hooks && { hooks }) });
    inMastra({ agent }, ...exporters);
    await agent.generate('go', { ...inThread(session), hooks: { beforeToolCall: () => {} } });
    expect(await recorded(session)).toEqual(['tester echo 200', 'tester echo 200']);
  }
});

test('counts each call once per recorder with wrappers and nested hooks', async () => {
  const adapter = { recorder: service.recorder() };
  const other = { recorder: service.recorder({ agentId: 'other' }), agentId: 'other' };
  const { echo } = tools();
  const { agent } = agentOf({
    turns: [[{ name: 'echo', args: { text: 'a' } }], [{ name: 'echo', args: { text: 'b' } }]],
    tools: actlog.tools(actlog.tools({ echo }, other), adapter),
    hooks: actlog.around(actlog.around(actlog(other), adapter), adapter),
  });
  await agent.generate('go', inThread('hooks-around'));
  expect(await recorded('hooks-around')).toEqual([
    'other echo 200',
    'other echo 200',
    'tester echo 200',
    'tester echo 200',
  ]);
});

test("records a call denied by the tools' guard once with recording hooks", async () => {
  const recorder = service.recorder();
  const { fail, ran } = tools();
  const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
  const { agent, model } = agentOf({
    turns: [[{ name: 'fail', args: {} }]],
    tools: actlog.tools({ fail }, { recorder, guard }),
    hooks: actlog({ recorder }),
  });
  await agent.generate('go', inThread('guarding-tools'));
  expect(ran).toEqual([]);
  expect(model.toolResults()[0]?.text).toMatch(/^The call of the tool "fail" was not run: .*Never do that\./);
  expect(await recorded('guarding-tools')).toEqual(['tester fail 403']);
});

test.each([false, true])(
  'records a suspended tool of an agent after it is resumed (hooks: %s)',
  async (hooks) => {
    const recorder = service.recorder();
    const { agent, model } = agentOf({
      turns: [[{ name: 'ask', args: {} }]],
      tools: actlog.tools({ ask: askingTool() }, { recorder }),
      ...(hooks && { hooks: actlog({ recorder }) }),
    });
    inMastra({ agent }, actlog.exporter({ recorder }));
    const session = `suspended-tool-${hooks}`;
    const { finishReason, runId } = await agent.generate('go', inThread(session));
    expect(finishReason).toBe('suspended');
    expect(await recorded(session)).toEqual([]);
    await agent.resumeGenerate({ answer: 'yes' }, { runId: runId ?? '', ...inThread(session) });
    expect(model.toolResults()).toEqual([{ text: 'They said yes.', isError: false }]);
    expect(await recorded(session)).toEqual(['tester ask 200']);
  },
);

// Older versions of Mastra do not expose the runs of a process.
test.runIf('globalRunRegistry' in durableAgents)(
  'guards a tool of a durable agent continued by another process',
  async () => {
    const { echo, ran } = tools();
    const wrapped = actlog.tools({ denied: echo }, { recorder: service.guarded() });
    const { agent, model } = agentOf({ turns: [[{ name: 'denied', args: { text: 'a' } }]], tools: wrapped });
    const durable = durableAgents.createDurableAgent({ agent });
    inMastra({ durable: durable as never });
    const options = { ...inThread('elsewhere'), requireToolApproval: true };
    const { runId, fullStream } = await durable.stream('go', options);
    for await (const { type } of fullStream) if (type === 'tool-call-approval') break;
    durableAgents.globalRunRegistry.delete(runId);
    const resumed = await durable.resume(runId, { approved: true });
    for await (const { type } of resumed.fullStream) if (type === 'finish') break;
    expect(ran).toEqual([]);
    expect(model.toolResults()[0]?.text).toContain('Never do that.');
    expect(await recorded('elsewhere')).toEqual(['tester denied 403']);
  },
);

test('records manual calls of a twice-wrapped tool once each, including recursive ones', async () => {
  const options = { recorder: service.recorder(), sessionId: 'by-hand' };
  const countdown = createTool({
    id: 'countdown',
    description: 'Counts down.',
    inputSchema: z.object({ from: z.number() }),
    execute: async ({ from }, context): Promise<string> =>
      from === 0 ? 'go' : String(await wrapped.countdown.execute?.({ from: from - 1 }, context)),
  });
  const wrapped = actlog.tools(actlog.tools({ countdown }, options), options);
  expect(await wrapped.countdown.execute?.({ from: 2 }, { observe: noopObserve })).toBe('go');
  expect(await service.events('by-hand')).toHaveLength(3);
  const turns = [[{ name: 'countdown', args: { from: 2 } }]];
  for (const hooks of [{}, { hooks: actlog(options) }]) {
    await agentOf({ turns, tools: wrapped, ...hooks }).agent.generate('go');
  }
  expect(await service.events('by-hand')).toHaveLength(9);
});

test('never runs a manual call aborted while held', async () => {
  const { echo, ran } = tools();
  const controller = new AbortController();
  const wrapped = actlog.tools({ held: echo }, { recorder: service.guarded(), sessionId: 'aborted' });
  const call = wrapped.held.execute?.(
    { text: 'a', times: 1 },
    { abortSignal: controller.signal, observe: noopObserve },
  );
  const { id } = await service.held('aborted');
  controller.abort(new Error('Enough.'));
  await expect(call).rejects.toThrow('Enough.');
  await service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
  expect(ran).toEqual([]);
  expect(await service.events('aborted')).toMatchObject([{ status: 499 }]);
});

test('applies a transforming schema once', async () => {
  const parse = createTool({
    id: 'parse',
    description: 'Reads a number.',
    inputSchema: z.object({ text: z.string().transform((text) => text.length) }),
    execute: async ({ text }) => `${typeof text} ${text}`,
  });
  const results = [];
  for (const own of [{ parse }, actlog.tools({ parse }, { recorder: service.recorder() })]) {
    const { agent, model } = agentOf({ turns: [[{ name: 'parse', args: { text: 'abc' } }]], tools: own });
    await agent.generate('go', inThread('transformed'));
    results.push(model.toolResults());
  }
  expect(results[1]).toEqual(results[0]);
});

test('returns excluded tools and tools that run elsewhere unchanged', () => {
  const { echo, fail } = tools();
  const choose = createTool({ id: 'choose', description: 'Asks the browser.', inputSchema: z.object({}) });
  const wrapped = actlog.tools({ echo, fail, choose }, { recorder: service.recorder(), exclude: ['echo'] });
  expect(wrapped.echo).toBe(echo);
  expect(wrapped.choose).toBe(choose);
  expect(wrapped.fail).not.toBe(fail);
  expect(wrapped.fail).toBeInstanceOf(Tool);
});

test.each(['of Mastra', 'of the AI SDK'])(
  'does not run a tool %s with changes that its schema refuses',
  async (kind) => {
    const { id: policyId } = await service.client.policies.create({
      name: 'pay with changes',
      effect: 'require_approval',
      match: { tools: ['pay'] },
      approval: { timeoutSeconds: 60, onTimeout: 'deny', editable: [{ path: 'unit', anyText: true }] },
    });
    const ran: string[] = [];
    const inputSchema = z.object({ unit: z.enum(['EUR', 'USD']) });
    const settings = {
      id: 'pay',
      description: 'Pays.',
      inputSchema,
      execute: async ({ unit }: z.infer<typeof inputSchema>) => {
        ran.push(unit);
        return 'paid';
      },
    };
    const pay = kind === 'of Mastra' ? createTool(settings) : settings;
    const showArguments = (args: unknown) => args as Record<string, unknown>;
    const recorder = service.guarded({ showArguments });
    const own = actlog.tools({ pay } as ToolsInput, { recorder });
    const pass = async (unit: string) => {
      const session = `schema ${kind} ${unit}`;
      const { agent } = agentOf({ turns: [[{ name: 'pay', args: { unit: 'EUR' } }]], tools: own });
      const running = agent.generate('go', inThread(session));
      const { id } = await service.held(session);
      const changedArguments = { unit };
      await service.client.guardian.pendingActions.decide(id, { decision: 'approve', changedArguments });
      await running;
      return (await service.events(session)).map(({ status }) => status);
    };
    expect(await pass('gold')).toEqual([403]);
    expect(ran).toEqual([]);
    expect(await pass('USD')).toEqual([200]);
    expect(ran).toEqual(['USD']);
    await service.client.policies.archive(policyId);
  },
);
