import { Service, secondCopy } from '@actlog/adapter-suite';
import {
  BasePlugin,
  BaseTool,
  type Event,
  FunctionNode,
  FunctionTool,
  LlmAgent,
  RequestInput,
  setLogger,
} from '@google/adk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { lastWords, modelOf, runAgent, startSession, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'a' } };
const fail = { name: 'fail', args: {} };

class OwnPlugin extends BasePlugin {
  readonly errors: string[] = [];
  readonly #result: Record<string, unknown> | undefined;

  constructor(result?: Record<string, unknown>) {
    super('own');
    this.#result = result;
  }

  override async beforeToolCallback() {
    return this.#result;
  }

  override async onToolErrorCallback({ error }: { error: Error }): Promise<undefined> {
    this.errors.push(error.message);
  }
}

// First, because ADK warns once per process.
test("adds no warning to ADK's log", async () => {
  const warnings: unknown[] = [];
  const note = (...words: unknown[]) => void warnings.push(...words);
  const ignore = () => {};
  setLogger({ log: ignore, debug: ignore, info: ignore, warn: note, error: note, setLogLevel: ignore });
  onTestFinished(() => setLogger(null));
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[echo]]), tools: [tools().echo] });
  await runAgent(agent, { plugins: [actlog({ recorder: service.recorder() })] });
  expect(warnings).toEqual([]);
});

test("passes only the denial's message as an error, without the callbacks for tool errors", async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
    message: 'Never fail.',
  });
  const own = tools();
  const plugin = new OwnPlugin();
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[fail]]), tools: [own.fail] });
  const recording = actlog({ recorder: service.guarded() });
  const events = await runAgent(agent, { sessionId: 'denied', plugins: [recording, plugin] });
  expect(toolResultsOf(events)[0]?.text).toMatch(
    /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/,
  );
  expect([own.ran, plugin.errors]).toEqual([[], []]);
  await service.client.policies.archive(id);
});

test('counts each call once with plugins of two copies of the package', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
  });
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const own = tools();
  const adapter = { recorder: service.guarded() };
  const calls = [echo, fail, { name: 'nowhere', args: {} }];
  const agent = new LlmAgent({ name: 'tester', model: modelOf([calls]), tools: [own.echo, own.fail] });
  const plugins = [second.actlog(adapter), actlog(adapter), second.actlog(adapter), actlog(adapter)];
  await runAgent(agent, { sessionId: 'two-copies', plugins });
  await service.client.policies.archive(id);
  const events = (await service.events('two-copies')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(events.sort()).toEqual(['echo 200', 'fail 403', 'nowhere 404']);
});

test('records and guards a frozen tool and others of its class', async () => {
  const { id } = await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
  });
  const own = tools();
  const frozen = [Object.freeze(own.echo), Object.freeze(own.fail)];
  const calls = [echo, fail, { name: 'shout', args: {} }, { name: 'break', args: {} }];
  const shout = new FunctionTool({ name: 'shout', description: 'Shouts.', execute: () => 'A!' });
  const broken = () => {
    throw new Error('It broke.');
  };
  const breaks = Object.freeze(new FunctionTool({ name: 'break', description: 'Breaks.', execute: broken }));
  const agent = new LlmAgent({ name: 'tester', model: modelOf([calls]), tools: [...frozen, shout, breaks] });
  const plugins = [actlog({ recorder: service.guarded() })];
  const events = await runAgent(agent, { sessionId: 'frozen', plugins });
  await service.client.policies.archive(id);
  expect(toolResultsOf(events).map(({ text }) => text)).toEqual([
    'echo: a',
    expect.stringMatching(/was not run/),
    'A!',
    expect.stringMatching(/It broke/),
  ]);
  expect(own.ran).toEqual(['echo a']);
  const recorded = (await service.events('frozen')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(recorded).toEqual(['echo 200', 'fail 403', 'shout 200', 'break 500']);
});

test("keeps the user's error handling, and records the status of the tool's error", async () => {
  const own = tools();
  const plugin = new OwnPlugin();
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[fail]]), tools: [own.fail] });
  const recording = actlog({ recorder: service.recorder() });
  await runAgent(agent, { sessionId: 'thrown', plugins: [recording, plugin] });
  expect(plugin.errors).toEqual(["Error in tool 'fail': it broke"]);
  expect(await service.events('thrown')).toMatchObject([
    { agentId: 'tester', toolName: 'fail', status: 502 },
  ]);
});

test.each([
  ['an error', { error: 'not today' }, 403],
  ['a result', { cached: true }, 200],
])('records a call with %s from another plugin once', async (what, result, status) => {
  const own = tools();
  const sessionId = `ended with ${what}`;
  const adapter = { recorder: service.recorder() };
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[echo]]), tools: [own.echo] });
  await runAgent(agent, { sessionId, plugins: [actlog(adapter), actlog(adapter), new OwnPlugin(result)] });
  expect(own.ran).toEqual([]);
  expect(await service.events(sessionId)).toMatchObject([{ toolName: 'echo', status }]);
});

test('records a custom tool class, which is unchanged when not recorded', async () => {
  class Shout extends BaseTool {
    #times = 0;
    constructor() {
      super({ name: 'shout', description: 'Says it loudly.' });
    }
    override _getDeclaration() {
      return { name: this.name, description: this.description };
    }
    override async runAsync({ args }: { args: Record<string, unknown> }) {
      this.#times += 1;
      return `${args.text}! ${this.#times}`;
    }
  }
  const shout = new Shout();
  const run = (plugins: BasePlugin[]) => {
    const model = modelOf([[{ name: 'shout', args: { text: 'hey' } }]]);
    const agent = new LlmAgent({ name: 'tester', model, tools: [shout] });
    return runAgent(agent, { sessionId: 'class', plugins }).then(toolResultsOf);
  };
  expect(await run([actlog({ recorder: service.recorder() })])).toEqual([{ text: 'hey! 1', isError: false }]);
  expect(await run([])).toEqual([{ text: 'hey! 2', isError: false }]);
  expect(await service.events('class')).toMatchObject([{ toolName: 'shout', status: 200 }]);
});

test.each([
  [true, 200, ['deleted']],
  [false, 403, []],
])(
  'records a call that waits for a confirmation after it is given: %s',
  async (confirmed, status, expected) => {
    const ran: string[] = [];
    const remove = new FunctionTool({
      name: 'remove',
      description: 'Deletes.',
      requireConfirmation: true,
      execute: () => void ran.push('deleted'),
    });
    const sessionId = `confirmed ${confirmed}`;
    const agent = new LlmAgent({
      name: 'tester',
      model: modelOf([[{ name: 'remove', args: {} }]]),
      tools: [remove],
    });
    const session = await startSession(agent, {
      sessionId,
      plugins: [actlog({ recorder: service.recorder() })],
    });
    const asked = (await session.send({ text: 'go' }))
      .flatMap(partsOf)
      .find(({ functionCall }) => functionCall?.name?.startsWith('adk_request_confirmation'));
    expect(await service.events(sessionId)).toEqual([]);
    const { id, name } = asked?.functionCall ?? {};
    await session.send({ functionResponse: { id, name, response: { confirmed } } });
    expect(ran).toEqual(expected);
    expect(await service.events(sessionId)).toMatchObject([{ toolName: 'remove', status }]);
  },
);

test('records a node that requests input once, after it is given', async () => {
  const color = new FunctionNode(
    'color',
    (context) => context.resumeInputs.which ?? new RequestInput({ interruptId: 'which', message: 'Which?' }),
    { inputSchema: z.object({}) },
  );
  const agent = new LlmAgent({
    name: 'tester',
    model: modelOf([[{ name: 'color', args: {} }]]),
    tools: [color],
  });
  const plugins = [actlog({ recorder: service.recorder() })];
  const session = await startSession(agent, { sessionId: 'asking node', plugins });
  await session.send({ text: 'go' });
  expect(await service.events('asking node')).toEqual([]);
  expect(toolResultsOf(await session.send({ text: 'blue' }))).toEqual([{ text: 'blue', isError: false }]);
  expect(await service.events('asking node')).toMatchObject([{ toolName: 'color', status: 200 }]);
});

function partsOf({ content }: Event) {
  return content?.parts ?? [];
}

test('records calls of a subagent under its name', async () => {
  const own = tools();
  const helper = new LlmAgent({ name: 'helper', model: modelOf([[echo]]), tools: [own.echo] });
  const transfer = { name: 'transfer_to_agent', args: { agentName: 'helper' } };
  const agent = new LlmAgent({ name: 'tester', model: modelOf([[transfer]]), subAgents: [helper] });
  const events = await runAgent(agent, {
    sessionId: 'sub-agent',
    plugins: [actlog({ recorder: service.recorder() })],
  });
  expect(lastWords(events)).toBe('done');
  expect(await service.events('sub-agent')).toMatchObject([
    { agentId: 'tester', toolName: 'transfer_to_agent', status: 200 },
    { agentId: 'helper', toolName: 'echo', status: 200 },
  ]);
});
