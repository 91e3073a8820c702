import { getEventListeners } from 'node:events';
import { Service } from '@actlog/adapter-suite';
import { Agent, MemorySession, Runner, type ToolInputGuardrailDefinition } from '@openai/agents';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

function echoing(tool: Agent['tools'][number]) {
  return new Agent({ name: 'a', model: modelOf([[{ name: 'echo', args: { text: 'x' } }]]), tools: [tool] });
}

test('returns the same agent and runner', () => {
  const agent = echoing(tools().echo);
  const runner = new Runner();
  const recorder = service.recorder();
  expect(actlog(agent, { recorder })).toBe(agent);
  expect(actlog(runner, { recorder })).toBe(runner);
});

test('keeps the tools of an agent identical, and does not modify a frozen one', async () => {
  const { echo, ran } = tools();
  const frozen = Object.freeze({ ...echo });
  const agent = actlog(echoing(frozen), { recorder: service.recorder() });
  const heard: unknown[] = [];
  agent.on('agent_tool_start', (_context, tool) => heard.push(tool.name));
  const result = await new Runner().run(agent, 'go', inSession('frozen'));
  expect(toolResultsOf(result.newItems)).toEqual(['echo: x']);
  expect(ran).toEqual(['echo x']);
  expect(heard).toEqual(['echo']);
  expect(agent.tools).toEqual([frozen]);
  expect(await service.events('frozen')).toHaveLength(1);
});

test('guards a tool added later', async () => {
  const { echo } = tools();
  const agent = actlog(echoing(echo), { recorder: service.recorder() });
  agent.tools = [];
  agent.tools.push(echo);
  await new Runner().run(agent, 'go', inSession('added'));
  expect(await service.events('added')).toHaveLength(1);
});

test.each(['agent', 'runner', 'process'])(
  'guards tools that the class of an agent creates for each turn, installed for the %s',
  async (covered) => {
    const policy = await service.denyTool('echo');
    const { ran } = tools();
    class Lister extends Agent {
      override async getAllTools() {
        const { echo } = tools();
        return [...(await super.getAllTools({} as never)), { ...echo, invoke: async () => ran.push('echo') }];
      }
    }
    const inner = new Lister({ name: 'inner', model: modelOf([[{ name: 'echo', args: { text: 'x' } }]]) });
    const outer = new Agent({
      name: 'outer',
      model: modelOf([[{ name: 'transfer_to_inner', args: {} }]]),
      handoffs: [inner],
    });
    const options = { recorder: service.guarded() };
    const runner = new Runner();
    if (covered === 'agent') actlog(outer, options);
    if (covered === 'runner') actlog(runner, options);
    const uninstall = covered === 'process' ? actlog.install(options) : () => {};
    await runner.run(outer, 'go', inSession(`lists-${covered}`));
    uninstall();
    await service.client.policies.archive(policy.id);
    expect(ran).toEqual([]);
    expect(await service.callLines(`lists-${covered}`)).toEqual(['inner echo 403']);
  },
);

test("checks and records a copied tool once, and keeps the user's guardrails", async () => {
  const { echo, ran } = tools();
  const own: ToolInputGuardrailDefinition = {
    type: 'tool_input',
    name: 'own',
    run: async () => ({ behavior: { type: 'allow' } }),
  };
  echo.inputGuardrails = [own];
  const showArguments = vi.fn(() => ({}));
  const recorder = service.guarded({ showArguments });
  await new Runner().run(actlog(echoing(echo), { recorder }), 'go', inSession('original'));
  const copy = { ...echo };
  await new Runner().run(actlog(echoing(copy), { recorder }), 'go', inSession('copy'));
  expect(ran).toEqual(['echo x', 'echo x']);
  expect(showArguments).toHaveBeenCalledTimes(2);
  expect(copy.inputGuardrails?.map(({ name }) => name)).toEqual(['own', 'actlog']);
  expect(copy.outputGuardrails).toHaveLength(1);
  expect(await service.events('copy')).toHaveLength(1);
});

test('records and guards a clone of an agent', async () => {
  const { policies } = service.client;
  const { id: policyId } = await service.denyTool('echo');
  const { echo, ran } = tools();
  const agent = actlog(echoing(echo), { recorder: service.guarded() });
  const clone = agent.clone({ name: 'b' }).clone({ instructions: 'Be brief.' });
  await new Runner().run(clone, 'go', inSession('cloned'));
  class OwnKind extends Agent {
    override clone(config: { name?: string }): OwnKind {
      return new OwnKind({ ...this, ...config });
    }
  }
  const own = actlog(new OwnKind({ ...echoing(echo) }), { recorder: service.guarded() });
  await new Runner().run(own.clone({ name: 'c' }), 'go', inSession('cloned'));
  await policies.archive(policyId);
  expect(ran).toEqual([]);
  expect(await service.events('cloned')).toMatchObject([
    { agentId: 'b', status: 403 },
    { agentId: 'c', status: 403 },
  ]);
});

test('rejects an agent or runner of another copy of the SDK', () => {
  expect(() => actlog({ getAllTools: async () => [] } as never)).toThrow(/another copy of @openai\/agents/);
  expect(() => actlog({ run: async () => {} } as never)).toThrow(TypeError);
});

test('does not affect agents that are not covered', async () => {
  actlog(echoing(tools().echo), { recorder: service.recorder() });
  const { echo } = tools();
  await new Runner().run(echoing(echo), 'go', inSession('not-named'));
  expect(await service.events('not-named')).toEqual([]);
});

test('never runs a held call after its stream is closed', async () => {
  const { policies, guardian } = service.client;
  const { id: policyId } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
  });
  const { echo, ran } = tools();
  const agent = actlog(echoing(echo), { recorder: service.guarded() });
  const result = await new Runner().run(agent, 'go', { ...inSession('left'), stream: true });
  let id = '';
  for await (const _ of result) {
    id = (await service.held('left')).id;
    break;
  }
  await result.completed;
  await guardian.pendingActions.decide(id, { decision: 'approve' });
  await policies.archive(policyId);
  expect(ran).toEqual([]);
  expect(await service.events('left')).toMatchObject([{ toolName: 'echo', status: 499 }]);
});

test("leaves no listener on the user's signal after a stream", async () => {
  const agent = actlog(echoing(tools().echo), { recorder: service.recorder() });
  const { signal } = new AbortController();
  const result = await new Runner().run(agent, 'go', { ...inSession('ended'), stream: true, signal });
  for await (const _ of result);
  await result.completed;
  // It follows the user's signal, which retains it while there are listeners.
  const following = (result as unknown as { _getAbortSignal(): AbortSignal })._getAbortSignal();
  expect(getEventListeners(following, 'abort')).toEqual([]);
  expect(await service.events('ended')).toHaveLength(1);
});
