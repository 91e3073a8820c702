import { Service, secondCopy } from '@actlog/adapter-suite';
import { type Agent, Graph, Swarm, tool } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { toolResultsOf, tools } from '../tests/agent.ts';
import { agentOf, echo, fail, install } from '../tests/bare-agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
});
afterAll(() => service.close());

const unknown = { name: 'nowhere', args: {} };
const handoff = (args: Record<string, unknown>) => ({ name: 'strands_structured_output', args });

/** Creates a tool whose function runs an agent. */
function asking(inner: Agent, name = 'ask') {
  return tool({
    name,
    description: 'Asks the inner agent.',
    inputSchema: z.object({}),
    callback: async () => `${await inner.invoke('go')}`,
  });
}

const ask = [[{ name: 'ask', args: {} }]];

/** Returns the calls of the only session of an agent. */
async function onlySession(agentId: string): Promise<string[]> {
  await service.events('none'); // everything is delivered
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions).toHaveLength(1);
  return (await service.callLines(String(sessions[0]?.id))).sort();
}

test('covers agents that were created before, until it is stopped', async () => {
  const { agent, ran } = agentOf('old', [[echo, fail], [], [echo]]);
  const stop = install({ recorder: service.guarded(), sessionId: 'before' });
  await agent.invoke('go');
  expect(ran).toEqual(['echo x']);
  expect(toolResultsOf(agent).map(({ isError }) => isError)).toEqual([false, true]);
  stop();
  await agent.invoke('go on');
  expect((await service.callLines('before')).sort()).toEqual(['old echo 200', 'old fail 403']);
});

test('applies the last of several installs, and the one before when that is stopped', async () => {
  const { agent } = agentOf('any', [[echo], [], [echo]]);
  const recorder = service.recorder();
  install({ recorder, agentId: 'first', sessionId: 'installs' });
  const stop = install({ recorder, agentId: 'second', sessionId: 'installs' });
  await agent.invoke('go');
  stop();
  await agent.invoke('go on');
  expect(await service.callLines('installs')).toEqual(['second echo 200', 'first echo 200']);
});

test('ends a held call as it began, although the coverage has ended', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
  });
  onTestFinished(() => policies.archive(id).then(() => {}));
  const { agent, ran } = agentOf('patient', [[echo]]);
  const stop = install({ recorder: service.guarded(), sessionId: 'stopped' });
  const run = agent.invoke('go');
  await service.held('stopped');
  stop();
  expect(ran).toEqual([]);
  await service.decide('stopped', 'approve');
  await run;
  expect(ran).toEqual(['echo x']);
  expect(await service.callLines('stopped')).toEqual(['patient echo 200']);
});

test('covers agents as tools, agents that tools run and their unknown tools, at any depth', async () => {
  const { agent: deep, ran } = agentOf('deep', [[echo, fail, unknown]]);
  const { agent: middle } = agentOf('middle', [[{ name: 'deep', args: { input: 'go' } }]], { tools: [deep] });
  const { agent: outer } = agentOf('outer', ask, { tools: [asking(middle)] });
  install({ recorder: service.guarded() });
  await outer.invoke('go');
  expect(ran).toEqual(['echo x']);
  expect(await onlySession('outer')).toEqual([
    'deep echo 200',
    'deep fail 403',
    'deep nowhere 404',
    'middle deep 200',
    'outer ask 200',
  ]);
});

test('leaves agents with their own intervention and wrapped tools to those, also what they exclude', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'of-process' });
  const own = { recorder, sessionId: 'nearer', exclude: ['fail'] };
  const { agent } = agentOf('agent', [[echo, fail]], {
    interventions: [actlog({ ...own, agentId: 'intervention' })],
  });
  const { echo: bare } = tools();
  const { agent: other } = agentOf('other', [[echo]], {
    tools: actlog.tools([bare], { ...own, agentId: 'wrapped' }),
  });
  await agent.invoke('go');
  await other.invoke('go');
  expect(await service.callLines('nearer')).toEqual(['intervention echo 200', 'wrapped echo 200']);
  expect(await service.events('of-process')).toEqual([]);
});

test('without an install, covers the agents that the tools of a covered agent run', async () => {
  const recorder = service.guarded();
  const { agent: inner, ran } = agentOf('inner', [[fail, echo], [], [echo]]);
  const { agent: outer } = agentOf('outer', ask, {
    tools: [asking(inner)],
    interventions: [actlog({ recorder, sessionId: 'in-function' })],
  });
  await outer.invoke('go');
  await inner.invoke('go on'); // of its own
  expect(ran).toEqual(['echo x', 'echo x']);
  expect((await service.callLines('in-function')).sort()).toEqual([
    'inner echo 200',
    'inner fail 403',
    'outer ask 200',
  ]);
});

test('takes the recorder of the call around an agent rather than that of the process', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'of-process-2' });
  const { agent: inner } = agentOf('inner', [[echo]]);
  const { agent: outer } = agentOf('outer', ask, {
    tools: [asking(inner)],
    interventions: [actlog({ recorder, sessionId: 'around' })],
  });
  await outer.invoke('go');
  expect(await service.callLines('around')).toEqual(['inner echo 200', 'outer ask 200']);
  expect(await service.events('of-process-2')).toEqual([]);
});

test('covers a swarm in one session', async () => {
  const first = agentOf('alice', [[echo], [handoff({ agentId: 'bob', message: 'yours' })]]);
  const second = agentOf('bob', [[fail], [handoff({ message: 'done' })]]);
  install({ recorder: service.guarded() });
  await new Swarm({ nodes: [first.agent, second.agent], maxSteps: 5 }).invoke('go');
  expect(second.ran).toEqual([]);
  expect(await onlySession('alice')).toEqual(['alice echo 200', 'bob fail 403']);
  expect(await onlySession('bob')).toEqual(['alice echo 200', 'bob fail 403']);
});

test('covers parallel agents of a graph in one session, also of a graph within it', async () => {
  const graphOf = (
    id: string,
    nodes: ConstructorParameters<typeof Graph>[0]['nodes'],
    edges: [string, string][],
  ) => new Graph({ id, nodes, edges, maxSteps: 10 });
  const head = agentOf('head', [[echo]]);
  const left = agentOf('left', [[echo, fail]]);
  const right = agentOf('right', [[echo]]);
  const inner = graphOf('inner-graph', [right.agent], []);
  const graph = graphOf(
    'outer-graph',
    [head.agent, left.agent, inner],
    [
      ['head', 'left'],
      ['head', 'inner-graph'],
    ],
  );
  install({ recorder: service.guarded() });
  await graph.invoke('go');
  const calls = ['head echo 200', 'left echo 200', 'left fail 403', 'right echo 200'];
  expect(await onlySession('head')).toEqual(calls);
  expect(await onlySession('right')).toEqual(calls);
});

test('keeps two runs of a graph apart, also when they are streamed at the same time', async () => {
  install({ recorder: service.recorder() });
  const graphOf = () => {
    const { agent } = agentOf('twice', [[echo]]);
    return new Graph({
      nodes: [agent, agentOf('after', [[echo]]).agent],
      edges: [['twice', 'after']],
      maxSteps: 5,
    });
  };
  const [one, other] = [graphOf().stream('go'), graphOf().stream('go')];
  for (;;) {
    const [next, nextOther] = [await one.next(), await other.next()];
    if (next.done && nextOther.done) break;
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('twice').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2, 2]);
});

test('holds a call of an inner agent until a person decides', async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
  });
  onTestFinished(() => policies.archive(id).then(() => {}));
  const { agent: inner, ran } = agentOf('inner', [[echo]]);
  const { agent: outer } = agentOf('outer', ask, { tools: [asking(inner)] });
  install({ recorder: service.guarded(), sessionId: 'held' });
  const run = outer.invoke('go');
  await service.held('held');
  expect(ran).toEqual([]);
  await service.decide('held', 'deny');
  await run;
  expect(ran).toEqual([]);
  expect((await service.callLines('held')).sort()).toEqual(['inner echo 403', 'outer ask 200']);
});

test('counts each call once with a second copy of the adapter', async () => {
  const recorder = service.recorder();
  const copy = await secondCopy(() => import('./index.ts'));
  onTestFinished(copy.actlog.install({ recorder, sessionId: 'copies', agentId: 'copy' }));
  const { agent } = agentOf('any', [[echo]]);
  const { agent: own } = agentOf('any', [[echo]], {
    interventions: [actlog({ recorder, sessionId: 'copies', agentId: 'own' })],
  });
  await agent.invoke('go');
  await own.invoke('go');
  expect(await service.callLines('copies')).toEqual(['copy echo 200', 'own echo 200']);
});
