import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, formerPi, modelOf, type Tool, textOf, textTool, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'x' } };
const fail = { name: 'fail', args: { text: 'x' } };
const ask = { name: 'ask', args: { text: 'go' } };

/** Creates a tool that runs an agent. */
function asking(agent: { prompt(text: string): Promise<void> }, name = 'ask'): Tool {
  return textTool(name, async (text) => {
    await agent.prompt(text);
    return 'asked';
  });
}

/** Returns the numbers of calls in the sessions of an agent. */
async function sizes(agentId: string): Promise<number[]> {
  await service.events('none'); // everything is delivered
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ eventCount }) => Number(eventCount)).sort();
}

test('covers agents that its tools run, at any depth, in the session of the call', async () => {
  const { echo: said, fail: failing, ran } = tools();
  const deep = agentOf([[echo, fail]], [said, failing], { sessionId: 'its-own' });
  const inner = agentOf([[{ ...ask, name: 'deeper' }]], [asking(deep, 'deeper')]);
  const outer = actlog(agentOf([[ask]], [asking(inner)]), { recorder: service.guarded() });
  outer.sessionId = 'nested';
  await outer.prompt('go');
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('nested')).sort()).toEqual([
    'tester ask 200',
    'tester deeper 200',
    'tester echo 200',
    'tester fail 403',
  ]);
});

test('keeps the own line of an agent inside a tool, and names the agent above it', async () => {
  const { echo: said } = tools();
  const recorder = service.recorder();
  const inner = actlog(agentOf([[echo]], [said]), { recorder, agentId: 'inner' });
  const outer = actlog(agentOf([[ask]], [asking(inner)]), { recorder, agentId: 'outer', sessionId: 'own' });
  await outer.prompt('go');
  expect((await service.callLines('own')).sort()).toEqual(['inner echo 200', 'outer ask 200']);
  expect(await service.innerCalls('own')).toEqual(['inner in outer: echo']);
});

test('leaves other agents alone, also one that has run inside a covered call', async () => {
  const { echo: said } = tools();
  const inner = agentOf([[echo], [], [echo]], [said]);
  const outer = actlog(agentOf([[ask]], [asking(inner)]), {
    recorder: service.recorder(),
    sessionId: 'alone',
  });
  await outer.prompt('go');
  await inner.prompt('go');
  await agentOf([[echo]], [said]).prompt('go');
  expect(await service.events('alone')).toHaveLength(2);
});

test('records once if another agent has the same tools', async () => {
  const { echo: said } = tools();
  const recorder = service.recorder();
  const first = actlog(agentOf([[echo]], [said]), { recorder, sessionId: 'shared-1' });
  await first.prompt('go');
  const second = actlog(agentOf([[echo]], first.state.tools), { recorder, sessionId: 'shared-2' });
  await second.prompt('go');
  await agentOf([[echo]], second.state.tools).prompt('go');
  const third = actlog(agentOf([[echo]], [said]), { recorder, sessionId: 'shared-3' });
  await third.prompt('go');
  expect(await service.events('shared-1')).toHaveLength(1);
  expect(await service.events('shared-2')).toHaveLength(1);
  expect(await service.events('shared-3')).toHaveLength(1);
});

test('covers the agents of the former package inside a tool of the current one', async () => {
  const { echo: said } = tools();
  const inner = new formerPi.Agent({ initialState: { tools: [said] }, streamFn: modelOf([[echo]]) });
  actlog(inner, { recorder: service.recorder(), sessionId: 'former' });
  const other = new formerPi.Agent({ initialState: { tools: [said] }, streamFn: modelOf([[echo]]) });
  const recorder = service.recorder();
  await actlog(agentOf([[ask]], [asking(other)]), { recorder, sessionId: 'mixed' }).prompt('go');
  expect((await service.callLines('mixed')).sort()).toEqual(['tester ask 200', 'tester echo 200']);
});

test('uses one session per conversation of an agent: a reset starts another', async () => {
  const { echo: said } = tools();
  const agent = actlog(agentOf([[echo], [], [echo], [], [echo]], [said]), {
    recorder: service.recorder(),
    agentId: 'resetting',
  });
  await agent.prompt('one');
  await agent.prompt('two');
  agent.reset();
  await agent.prompt('another');
  expect(await sizes('resetting')).toEqual([1, 2]);
});

test("prefers the agent's own session to that of the surrounding session.run", async () => {
  const { echo: said } = tools();
  const recorder = service.recorder();
  const agent = actlog(agentOf([[echo], [], [echo]], [said], { sessionId: 'of-the-agent' }), { recorder });
  await recorder.session('around').run(() => agent.prompt('go'));
  agent.sessionId = undefined as never;
  await recorder.session('around').run(() => agent.prompt('go'));
  expect(await service.events('of-the-agent')).toHaveLength(1);
  expect(await service.events('around')).toHaveLength(1);
});

test("ends a run by denials with the reason as its error, and resets for the agent's next run", async () => {
  const { fail: failing, echo: said } = tools();
  const turns = Array.from({ length: 8 }, () => [fail, echo, { name: 'nowhere', args: {} }]);
  const agent = actlog(agentOf(turns, [failing, said]), { recorder: service.guarded(), sessionId: 'anew' });
  const denials = async () => (await service.events('anew')).filter(({ status }) => status === 403).length;
  await agent.prompt('go');
  expect(agent.state.errorMessage).toContain('The run was ended because the model repeated the call.');
  expect(agent.state.isStreaming).toBe(false);
  expect(await denials()).toBe(5);
  await agent.prompt('go on');
  expect(textOf(agent.state.messages.at(-1))).toBe('done');
  expect(agent.state.errorMessage).toBeUndefined();
  expect(await denials()).toBe(8);
});

test('ends the run of an agent whose model repeats an agent that is always denied', async () => {
  const repeated = (name: string) => Array.from({ length: 500 }, () => [{ name, args: { text: 'x' } }]);
  const deep = agentOf(repeated('fail'), [tools().fail]);
  const inner = agentOf(repeated('deeper'), [asking(deep, 'deeper')]);
  const outer = actlog(agentOf(repeated('ask'), [asking(inner)]), {
    recorder: service.guarded(),
    sessionId: 'repeated',
  });
  await outer.prompt('go');
  expect(outer.state.errorMessage).toContain('The run was ended because the model repeated the call.');
  const denied = (await service.events('repeated')).filter(({ toolName }) => toolName === 'fail');
  expect(denied).toHaveLength(125);
});
