import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import * as ai from 'ai';
import {
  type GenerateTextOnStepFinishCallback,
  generateText,
  type ModelMessage,
  stepCountIs,
  ToolLoopAgent,
  tool,
} from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { callOf, modelOf, toolResultsOf } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inputSchema = z.object({ text: z.string() });
const echo = tool({ inputSchema, execute: async ({ text }) => `echo: ${text}` });
const options = { toolCallId: '1', messages: [], context: {} };

/** Runs a conversation in which the user approves all requests of the AI SDK. */
async function approved(
  model: ReturnType<typeof modelOf>,
  tools: { echo: typeof echo },
  onStepFinish?: GenerateTextOnStepFinishCallback<typeof tools>,
) {
  const messages: ModelMessage[] = [{ role: 'user', content: 'go' }];
  const settings = { model, tools, stopWhen: stepCountIs(2), ...(onStepFinish && { onStepFinish }) };
  const { content, response } = await generateText({ ...settings, messages });
  const approvals = content.flatMap((part) =>
    part.type === 'tool-approval-request'
      ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
      : [],
  );
  if (approvals.length === 0) return;
  const answered: ModelMessage = { role: 'tool', content: approvals };
  await generateText({ ...settings, messages: [...messages, ...response.messages, answered] });
}

test('returns client tools, provider tools and excluded tools unchanged', () => {
  const tools = { echo, other: echo, ask: tool({ inputSchema, outputSchema: z.string() }) };
  const recorded = actlog(tools, { recorder: service.recorder(), exclude: ['other'] });
  expect(Object.keys(recorded)).toEqual(['echo', 'other', 'ask']);
  expect(recorded.echo).not.toBe(echo);
  expect(recorded.other).toBe(echo);
  expect(recorded.ask).toBe(tools.ask);
});

test('records and guards a sub-agent whose tools are wrapped, in the session of the outer agent', async () => {
  await service.denyTool('erase', 'Never erase.');
  const recorder = service.guarded();
  let erased = 0;
  const erase = tool({ inputSchema, execute: async () => `${++erased} erased` });
  const inner = new ToolLoopAgent({
    model: modelOf([[callOf('erase', { text: 'a' }, '1')], [callOf('echo', { text: 'b' }, '2')]]),
    tools: actlog({ echo, erase }, { recorder }),
  });
  const ask = tool({
    inputSchema,
    execute: async ({ text }) => (await inner.generate({ prompt: text })).text,
  });
  const outer = new ToolLoopAgent({
    model: modelOf([[callOf('ask', { text: 'c' }, '3')]]),
    tools: actlog({ ask }, { recorder, sessionId: 'sub-agent' }),
  });
  await outer.generate({ prompt: 'go' });
  expect(erased).toBe(0);
  const events = await service.events('sub-agent');
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
    'erase 403',
    'echo 200',
    'ask 200',
  ]);
});

test.runIf('experimental_toolCaller' in ai)(
  'records and guards code mode and the tools called by its programs',
  async () => {
    const ran: string[] = [];
    const noting = (name: string) =>
      tool({ inputSchema: z.object({}), execute: async () => `${ran.push(name)} ran` });
    const unbound = noting('unbound');
    const bind = (bound: Record<string, typeof unbound>) => ({
      ...unbound,
      async execute(input: Record<string, never>, given: typeof options) {
        ran.push('code');
        return Promise.all(Object.values(bound).map((one) => one.execute?.(input, given)));
      },
    });
    const code = Object.defineProperty(unbound, 'experimental_toolCaller', {
      value: { type: 'local', bind },
    });
    const running = async (sessionId: string) => {
      const calls = { model: modelOf([[callOf('code', {})]]), prompt: 'go', stopWhen: stepCountIs(2) };
      const tools = actlog({ code, inner: noting('inner') }, { recorder: service.guarded(), sessionId });
      // Only `ai` 7 supports the setting.
      const callers: object = { experimental_toolCallers: { inner: ['code'] } };
      await generateText({ ...calls, ...callers, tools });
      const events = await service.events(sessionId);
      return events.map(({ toolName, status }) => `${toolName} ${status}`).sort();
    };
    expect(await running('code-allowed')).toEqual(['code 200', 'inner 200']);
    expect(ran).toEqual(['code', 'inner']);
    const { policies } = service.client;
    const { id } = await service.denyTool('code');
    expect(await running('code-denied')).toEqual(['code 403']);
    expect(ran).toEqual(['code', 'inner']);
    await policies.archive(id);
  },
);

test('keeps the fields and methods of a class instance', async () => {
  class Shout {
    readonly inputSchema = inputSchema;
    readonly #mark = '!';
    async execute({ text }: { text: string }) {
      return text + this.#mark;
    }
    toModelOutput({ output }: { output: unknown }) {
      return { type: 'text' as const, value: `${output}${this.#mark}` };
    }
  }
  const model = modelOf([[callOf('shout', { text: 'hey' })]]);
  const tools = actlog({ shout: new Shout() as never }, { recorder: service.recorder(), sessionId: 'class' });
  await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(2) });
  expect(toolResultsOf(model)).toEqual([{ text: 'hey!!', isError: false }]);
  expect(await service.events('class')).toMatchObject([{ toolName: 'shout', status: 200 }]);
});

test('records a manual call', async () => {
  const recorded = actlog({ echo }, { recorder: service.recorder(), sessionId: 'by-hand' });
  expect(await recorded.echo.execute?.({ text: 'a' }, options)).toBe('echo: a');
  expect(await recorded.echo.execute?.({ text: 'b' }, undefined as never)).toBe('echo: b');
  expect(await service.events('by-hand')).toMatchObject([{ status: 200 }, { status: 200 }]);
});

test('records manual calls of a twice-wrapped tool once each, including recursive ones', async () => {
  const options = { recorder: service.recorder(), sessionId: 'twice-by-hand' };
  const countdown = tool({
    inputSchema: z.object({ from: z.number() }),
    execute: async ({ from }): Promise<string> =>
      from === 0 ? 'go' : String(await recorded.countdown.execute?.({ from: from - 1 }, undefined as never)),
  });
  const once = actlog({ countdown }, options);
  const recorded = actlog({ countdown: { ...once.countdown, needsApproval: true } }, options);
  expect(await recorded.countdown.execute?.({ from: 0 }, undefined as never)).toBe('go');
  expect(await service.events('twice-by-hand')).toHaveLength(1);
  expect(await recorded.countdown.execute?.({ from: 1 }, undefined as never)).toBe('go');
  expect(await service.events('twice-by-hand')).toHaveLength(3);
  async function* steps(): AsyncGenerator<string> {
    yield 'go';
  }
  const { streamed } = actlog(actlog({ streamed: tool({ inputSchema, execute: steps }) }, options), options);
  const results = streamed.execute?.({ text: 'a' }, undefined as never) ?? [];
  for await (const _ of results as AsyncIterable<string>);
  expect(await service.events('twice-by-hand')).toHaveLength(4);
});

test('passes a denial unchanged through several tools', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['wipe'] },
    message: 'Never wipe.',
  });
  const adapter = { recorder: service.recorder(), sessionId: 'passed-on' };
  const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
  const { wipe } = actlog(actlog({ wipe: echo }, { ...adapter, guard }), adapter);
  const { clean } = actlog(
    { clean: tool({ inputSchema, execute: async (input, given) => wipe.execute?.(input, given) }) },
    adapter,
  );
  const model = modelOf([[callOf('wipe', { text: 'x' }), callOf('clean', { text: 'x' })]]);
  await generateText({ model, prompt: 'go', tools: { wipe, clean }, stopWhen: stepCountIs(2) });
  const denied = expect.stringMatching(/^The call of the tool "wipe" was not run: .*Never wipe\./);
  expect(toolResultsOf(model).map(({ text }) => text)).toEqual([denied, denied]);
  const events = await service.events('passed-on');
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    'clean 403',
    'wipe 403',
    'wipe 403',
  ]);
  await service.client.policies.archive(id);
});

test('uses one session per conversation, and prefers the surrounding session', async () => {
  const recorder = service.recorder({ agentId: 'conversations' });
  const tools = actlog({ echo }, { recorder });
  const run = (messages: ModelMessage[]) => {
    const model = modelOf([[callOf('echo', { text: 'a' })], [callOf('echo', { text: 'b' })]]);
    return generateText({ model, messages, tools, stopWhen: stepCountIs(3) });
  };
  const asked: ModelMessage[] = [{ role: 'user', content: 'go' }];
  const { response } = await run(asked);
  await run([...asked, ...response.messages, { role: 'user', content: 'go on' }]);
  await run([{ role: 'user', content: 'go' }]);
  await recorder.session('around').run(() => run(asked));
  await recorder.flush();
  const sessions = await service.client.agents.sessions('conversations').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([2, 2, 4]);
  expect(sessions.find(({ id }) => id === 'around')?.eventCount).toBe(2);
});

test("records a tool that waits for the AI SDK's approval once, when it runs", async () => {
  const options = { recorder: service.recorder(), sessionId: 'approval' };
  const model = modelOf([[callOf('echo', { text: 'a' })]]);
  await approved(model, actlog({ echo: { ...echo, needsApproval: true } }, options), async (step) => {
    actlog.steps(options)(step);
    const isAsked = step.content.some(({ type }) => type === 'tool-approval-request');
    expect(await service.events('approval')).toHaveLength(isAsked ? 0 : 1);
  });
  expect(toolResultsOf(model)).toEqual([{ text: 'echo: a', isError: false }]);
});

test.each([false, true])(
  "passes only the denial's message to the model, needsApproval %s",
  async (needsApproval) => {
    const { policies } = service.client;
    const { id } = await policies.create({
      name: 'no',
      effect: 'deny',
      match: { tools: ['echo'] },
      message: 'No.',
    });
    const recorder = service.guarded();
    const tools = actlog(
      { echo: { ...echo, needsApproval } },
      { recorder, sessionId: `denied-${needsApproval}` },
    );
    const model = modelOf([[callOf('echo', { text: 'a' })]]);
    await approved(model, tools);
    await policies.archive(id);
    expect(toolResultsOf(model)).toHaveLength(1);
    expect(toolResultsOf(model)[0]?.text).toMatch(
      /^"?The call of the tool .*echo.* was not run: .*tell the user\."?$/,
    );
    expect(toolResultsOf(model)[0]?.isError).toBe(true);
    expect(await service.events(`denied-${needsApproval}`)).toMatchObject([{ status: 403 }]);
  },
);

test('never runs a call held past its timeout', async () => {
  const { policies } = service.client;
  const match = { tools: ['echo'] };
  const { id } = await policies.create({ name: 'ask', effect: 'require_approval', match });
  let ran = 0;
  const counting = tool({
    inputSchema,
    execute: async () => {
      ran += 1;
      return 'ran';
    },
  });
  const tools = actlog({ echo: counting }, { recorder: service.guarded(), sessionId: 'too-late' });
  // `timeout.toolMs` of `ai` 7 aborts this signal with the same reason.
  const timeout = new AbortController();
  const call = tools.echo.execute?.({ text: 'a' }, { ...options, abortSignal: timeout.signal });
  const held = await service.held('too-late');
  timeout.abort(new DOMException('too late', 'TimeoutError'));
  await expect(call).rejects.toThrow('too late');
  await service.client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
  await policies.archive(id);
  expect(ran).toBe(0);
  expect(await service.events('too-late')).toMatchObject([{ toolName: 'echo', status: 408 }]);
});

test('hashes the input passed by the AI SDK', async () => {
  const model = modelOf([[callOf('repeat', { text: 'a', more: true })]]);
  const repeat = tool({
    inputSchema: inputSchema.extend({ times: z.number().default(2) }),
    execute: async ({ text, times }) => text.repeat(times),
  });
  const tools = actlog({ repeat }, { recorder: service.recorder(), sessionId: 'hash' });
  const { toolCalls } = await generateText({ model, prompt: 'go', tools });
  const [event] = await service.storedEvents('hash');
  expect(toolCalls[0]?.input).toEqual({ text: 'a', times: 2 });
  expect(event?.payload?.argumentsHash).toBe(await hashArguments(toolCalls[0]?.input));
});

test.each(['once', 'streamed'] as const)(
  'denies a call whose changed arguments the schema of its tool refuses: %s',
  async (kind) => {
    const { id: policyId } = await service.client.policies.create({
      name: 'pay with changes',
      effect: 'require_approval',
      match: { tools: ['pay'] },
      approval: { timeoutSeconds: 60, onTimeout: 'deny', editable: [{ path: 'unit', anyText: true }] },
    });
    const ran: string[] = [];
    const run = (unit: string) => {
      ran.push(unit);
      return 'paid';
    };
    const settings = { inputSchema: z.object({ unit: z.enum(['EUR', 'USD']) }) };
    const pay =
      kind === 'once'
        ? tool({ ...settings, execute: async ({ unit }) => run(unit) })
        : tool({
            ...settings,
            async *execute({ unit }) {
              yield run(unit);
            },
          });
    const showArguments = (args: unknown) => args as Record<string, unknown>;
    const sessionId = `schema-${kind}`;
    const tools = actlog({ pay }, { recorder: service.guarded({ showArguments }), sessionId });
    const pass = async (unit: string) => {
      const model = modelOf([[callOf('pay', { unit: 'EUR' })]]);
      const running = generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(2) });
      const { id } = await service.held(sessionId);
      const changedArguments = { unit };
      await service.client.guardian.pendingActions.decide(id, { decision: 'approve', changedArguments });
      await running;
      return JSON.stringify(toolResultsOf(model));
    };
    expect(await pass('gold')).toContain('the schema of the tool does not permit them (at unit)');
    expect(ran).toEqual([]);
    expect(await pass('USD')).toContain('paid');
    expect(ran).toEqual(['USD']);
    const statuses = (await service.events(sessionId)).map(({ status }) => status);
    expect(statuses).toEqual([403, 200]);
    await service.client.policies.archive(policyId);
  },
);
