import { getEventListeners } from 'node:events';
import { Service } from '@actlog/adapter-suite';
import { Agent, MemorySession, Runner, type ToolInputGuardrailDefinition } from '@openai/agents';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { modelOf, toolAnswers, tools } from '../tests/agent.ts';
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

test('it gives back the very same agent and the very same runner', () => {
  const agent = echoing(tools().echo);
  const runner = new Runner();
  const recorder = service.recorder();
  expect(actlog(agent, { recorder })).toBe(agent);
  expect(actlog(runner, { recorder })).toBe(runner);
});

test('the tools of an agent stay the same objects, and one that is frozen is left alone', async () => {
  const { echo, ran } = tools();
  const frozen = Object.freeze({ ...echo });
  const agent = actlog(echoing(frozen), { recorder: service.recorder() });
  const heard: unknown[] = [];
  agent.on('agent_tool_start', (_context, tool) => heard.push(tool.name));
  const result = await new Runner().run(agent, 'go', inSession('frozen'));
  expect(toolAnswers(result.newItems)).toEqual(['echo: x']);
  expect(ran).toEqual(['echo x']);
  expect(heard).toEqual(['echo']);
  expect(agent.tools).toEqual([frozen]);
  expect(await service.events('frozen')).toHaveLength(1);
});

test('a tool that is added while the agent exists is guarded like the others', async () => {
  const { echo } = tools();
  const agent = actlog(echoing(echo), { recorder: service.recorder() });
  agent.tools = [];
  agent.tools.push(echo);
  await new Runner().run(agent, 'go', inSession('added'));
  expect(await service.events('added')).toHaveLength(1);
});

test('a copy of a tool asks and records once, too, and keeps the guardrails of the user', async () => {
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

test('a clone of an agent is recorded and guarded as the agent is', async () => {
  const { policies } = service.client;
  const { id: policyId } = await policies.create({ name: 'no', effect: 'deny', match: { tools: ['echo'] } });
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

test('an agent or a runner of another copy of the SDK is refused, as it would not be guarded', () => {
  expect(() => actlog({ getAllTools: async () => [] } as never)).toThrow(/another copy of @openai\/agents/);
  expect(() => actlog({ run: async () => {} } as never)).toThrow(TypeError);
});

test('agents that nobody named are left alone', async () => {
  actlog(echoing(tools().echo), { recorder: service.recorder() });
  const { echo } = tools();
  await new Runner().run(echoing(echo), 'go', inSession('not-named'));
  expect(await service.events('not-named')).toEqual([]);
});

test('a stream that its reader leaves while a call is held: the call never runs', async () => {
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

test("a stream that has ended leaves nothing at the user's signal, which may outlive many runs", async () => {
  const agent = actlog(echoing(tools().echo), { recorder: service.recorder() });
  const { signal } = new AbortController();
  const result = await new Runner().run(agent, 'go', { ...inSession('ended'), stream: true, signal });
  for await (const _ of result);
  await result.completed;
  // It follows the user's signal, which keeps it for as long as somebody listens to it.
  const following = (result as unknown as { _getAbortSignal(): AbortSignal })._getAbortSignal();
  expect(getEventListeners(following, 'abort')).toEqual([]);
  expect(await service.events('ended')).toHaveLength(1);
});
