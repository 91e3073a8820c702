import { Service, secondCopy, withEnvironment } from '@actlog/adapter-suite';
import { ActionDeniedError, sharedRecorder } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import * as strands from '@strands-agents/sdk';
import { AfterToolCallEvent, Agent, BeforeToolCallEvent, HookOrder, tool } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test("passes only the denial's message to the model, and the error and the tool to hooks", async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
    message: 'Never fail.',
  });
  const { fail, ran } = tools();
  const seen: AfterToolCallEvent[] = [];
  const agent = new Agent({
    model: modelOf([[{ name: 'fail', args: {} }]]),
    tools: [fail],
    interventions: [actlog({ recorder: service.guarded(), sessionId: 'denied' })],
    printer: false,
  });
  agent.addHook(AfterToolCallEvent, (event) => void seen.push(event));
  await agent.invoke('go');
  expect(ran).toEqual([]);
  expect(toolResultsOf(agent)[0]?.text).toMatch(
    /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/,
  );
  expect(seen).toMatchObject([{ error: expect.any(ActionDeniedError), tool: fail }]);
  expect(seen[0]?.tool).toBe(fail);
  await service.client.policies.archive(id);
});

test('counts each call once with interventions of two copies of the package', async () => {
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const adapter = { recorder: service.recorder(), sessionId: 'two-copies' };
  const { echo } = tools();
  const agent = new Agent({
    model: modelOf([
      [
        { name: 'echo', args: { text: 'a' } },
        { name: 'nowhere', args: {} },
      ],
    ]),
    tools: second.actlog.tools([echo], adapter),
    interventions: [second.actlog(adapter), actlog(adapter), second.actlog(adapter), actlog(adapter)],
    printer: false,
  });
  await agent.invoke('go');
  const events = (await service.events('two-copies')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['echo 200', 'nowhere 404']);
});

test('records a call canceled by a hook once with two interventions', async () => {
  const adapter = { recorder: service.recorder(), sessionId: 'cancelled' };
  const { echo, ran } = tools();
  const agent = new Agent({
    model: modelOf([[{ name: 'echo', args: { text: 'a' } }]]),
    tools: [echo],
    interventions: [actlog(adapter), actlog(adapter)],
    printer: false,
  });
  agent.addHook(BeforeToolCallEvent, (event) => {
    event.cancel = 'Not today.';
  });
  await agent.invoke('go');
  expect(ran).toEqual([]);
  expect(toolResultsOf(agent)).toEqual([{ text: 'Not today.', isError: true }]);
  expect(await service.events('cancelled')).toMatchObject([{ toolName: 'echo', status: 403 }]);
});

test('checks the tool selected by a later hook', async () => {
  const { id } = await service.client.policies.create({
    name: 'no other',
    effect: 'deny',
    match: { tools: ['other'] },
  });
  const { echo, fail, ran } = tools();
  const other = tool({ name: 'other', description: 'Another.', callback: () => void ran.push('other') });
  const after = { order: HookOrder.SDK_LAST };
  const run = async (sessionId: string, change: (event: BeforeToolCallEvent) => void) => {
    const agent = new Agent({
      model: modelOf([[{ name: 'echo', args: { text: 'a' } }]]),
      tools: [echo, fail, other],
      interventions: [actlog({ recorder: service.guarded(), sessionId })],
      printer: false,
    });
    agent.addHook(BeforeToolCallEvent, change, after);
    await agent.invoke('go');
    return (await service.events(sessionId)).map(({ toolName, status }) => `${toolName} ${status}`);
  };
  const rename = ({ toolUse }: BeforeToolCallEvent) => {
    toolUse.name = 'other';
  };
  expect(await run('renamed', rename)).toEqual(['other 403']);
  expect(ran).toEqual([]);
  const select = (event: BeforeToolCallEvent) => {
    event.selectedTool = fail;
  };
  expect(await run('selected', select)).toEqual(['echo 502']);
  expect(ran).toEqual(['fail']);
  await service.client.policies.archive(id);
});

test('records each attempt of a retried call', async () => {
  const { fail, ran } = tools();
  const agent = new Agent({
    model: modelOf([[{ name: 'fail', args: {} }]]),
    tools: [fail],
    interventions: [actlog({ recorder: service.recorder(), sessionId: 'again' })],
    printer: false,
  });
  agent.addHook(AfterToolCallEvent, (event) => {
    event.retry = ran.length < 2;
  });
  await agent.invoke('go');
  expect(ran).toEqual(['fail', 'fail']);
  expect(await service.events('again')).toMatchObject([{ status: 502 }, { status: 502 }]);
});

test('treats an explicit and an implicit shared recorder as one', async () => {
  await withEnvironment(service, async () => {
    const recorder = sharedRecorder();
    const sessionId = 'shared';
    const agent = new Agent({
      model: modelOf([[{ name: 'nowhere', args: {} }]]),
      interventions: [actlog({ sessionId }), actlog({ sessionId, recorder })],
      printer: false,
    });
    await agent.invoke('go');
    await recorder.flush();
    expect(await service.events(sessionId)).toMatchObject([{ toolName: 'nowhere', status: 404 }]);
  });
});

test('records an interrupting tool after it is resumed and has ended', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks a person.',
    callback: (_input, context) => `${context?.interrupt<string>({ name: 'sure', reason: 'Sure?' })}!`,
  });
  const agent = new Agent({
    model: modelOf([[{ name: 'ask', args: {} }]]),
    tools: [ask],
    interventions: [actlog({ recorder: service.recorder(), sessionId: 'interrupted' })],
    printer: false,
  });
  const { stopReason, interrupts } = await agent.invoke('go');
  expect(stopReason).toBe('interrupt');
  expect(await service.events('interrupted')).toEqual([]);
  const response = { interruptId: interrupts?.[0]?.id ?? '', response: 'yes' };
  await agent.invoke([{ interruptResponse: response }]);
  expect(toolResultsOf(agent)).toEqual([{ text: 'yes!', isError: false }]);
  expect(await service.events('interrupted')).toMatchObject([{ toolName: 'ask', status: 200 }]);
});

test("records a tool's own error that is named like an interrupt", async () => {
  const saw = tool({
    name: 'saw',
    description: 'Saws.',
    callback: () => {
      throw Object.assign(new Error('The power was interrupted.'), { name: 'InterruptError' });
    },
  });
  const agent = new Agent({
    model: modelOf([[{ name: 'saw', args: {} }]]),
    tools: [saw],
    interventions: [actlog({ recorder: service.recorder(), sessionId: 'own-interrupt' })],
    printer: false,
  });
  expect((await agent.invoke('go')).stopReason).not.toBe('interrupt');
  expect(await service.events('own-interrupt')).toMatchObject([{ toolName: 'saw', status: 500 }]);
});

test('passes on the updates of a tool unchanged', async () => {
  const steps = tool({
    name: 'steps',
    description: 'Goes step by step.',
    callback: async function* () {
      yield 'one';
      yield 'two';
      return 'three';
    },
  });
  const run = async (interventions: ReturnType<typeof actlog>[]) => {
    const model = modelOf([[{ name: 'steps', args: {} }]]);
    const agent = new Agent({ model, tools: [steps], interventions, printer: false });
    const types: string[] = [];
    const updates: unknown[] = [];
    for await (const event of agent.stream('go')) {
      types.push(event.type);
      if (event.type === 'toolStreamUpdateEvent') updates.push(event.event.data);
    }
    return { types, updates, toolResults: toolResultsOf(agent) };
  };
  const recorded = await run([actlog({ recorder: service.recorder(), sessionId: 'steps' })]);
  expect(recorded).toEqual(await run([]));
  expect(recorded.updates).toEqual(['one', 'two']);
  expect(await service.events('steps')).toMatchObject([{ toolName: 'steps', status: 200 }]);
});

test('records a call with a span once, also for an unknown tool', async () => {
  const adapter = { recorder: service.recorder(), sessionId: 'spans' };
  const spans = new AdapterCalls({ framework: 'opentelemetry', sdk: 'spans' }, adapter);
  // Same as the adapter for OpenTelemetry: Strands ends a span before it calls the hooks for the call's end.
  const tell = ({ toolUse: { name: toolName, toolUseId: callId, input } }: AfterToolCallEvent) => {
    spans.recordUnhooked({ toolName, callId, arguments: input }, { ok: true, result: undefined });
  };
  const turn = [
    { name: 'echo', args: { text: 'a' } },
    { name: 'nowhere', args: {} },
  ];
  const agent = new Agent({
    model: modelOf([turn]),
    tools: [tools().echo],
    interventions: [actlog(adapter), actlog(adapter)],
    printer: false,
  });
  agent.addHook(AfterToolCallEvent, tell, { order: HookOrder.SDK_FIRST - 1 });
  await agent.invoke('go');
  const events = (await service.events('spans')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['echo 200', 'nowhere 404']);
});

test.runIf('ExecuteToolStage' in strands)(
  'records, but does not guard, a tool replaced by middleware',
  async () => {
    const { policies } = service.client;
    const { id } = await service.denyTool('echo');
    const { echo } = tools();
    const other = tools();
    const agent = new Agent({
      model: modelOf([[{ name: 'echo', args: { text: 'a' } }]]),
      tools: [echo],
      interventions: [actlog({ recorder: service.guarded(), sessionId: 'replaced' })],
      printer: false,
    });
    const { Input } = strands.ExecuteToolStage;
    agent.addMiddleware(Input, async (context) => ({ ...context, tool: other.echo }));
    await agent.invoke('go');
    await policies.archive(id);
    expect(other.ran).toEqual(['echo a']);
    expect(await service.events('replaced')).toMatchObject([{ toolName: 'echo', status: 200 }]);
  },
);
