import { Service } from '@actlog/adapter-suite';
import { Graph, Swarm } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, echo, fail } from '../tests/bare-agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
});
afterAll(() => service.close());

const interventions = (sessionId: string, agentId?: string) => [
  actlog({ recorder: service.guarded(), sessionId, ...(agentId && { agentId }) }),
];

test('covers agents used as tools by a covered agent, at any depth', async () => {
  const { agent: deep, ran } = agentOf('deep', [[echo, fail]]);
  const { agent: inner } = agentOf('inner', [[{ name: 'deep', args: { input: 'go' } }]], { tools: [deep] });
  const ask = [[{ name: 'ask', args: { input: 'go' } }]];
  const { agent: outer } = agentOf('outer', ask, {
    tools: [inner.asTool({ name: 'ask' })],
    interventions: interventions('nested'),
  });
  await outer.invoke('go');
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('nested')).sort()).toEqual([
    'deep echo 200',
    'deep fail 403',
    'inner deep 200',
    'outer ask 200',
  ]);
  expect((await service.innerCalls('nested')).sort()).toEqual([
    'deep in inner, outer: echo',
    'deep in inner, outer: fail',
    'inner in outer: deep',
  ]);
});

test('keeps the own intervention of an agent tool', async () => {
  const { agent: inner } = agentOf('inner', [[echo]], { interventions: interventions('own', 'own') });
  const { agent: outer } = agentOf('outer', [[{ name: 'inner', args: { input: 'go' } }]], {
    tools: [inner],
    interventions: interventions('of-outer', 'of-outer'),
  });
  await outer.invoke('go');
  expect(await service.callLines('own')).toEqual(['own echo 200']);
  expect(await service.callLines('of-outer')).toEqual(['of-outer inner 200']);
});

test('keeps covering a reached agent in its own runs, once', async () => {
  const { agent: inner } = agentOf('inner', [[echo], [], [echo]]); // no call: it says `done`
  const { agent: outer } = agentOf('outer', [[{ name: 'inner', args: { input: 'go' } }]], {
    tools: [inner],
    interventions: interventions('reached'),
  });
  await outer.invoke('go');
  await inner.invoke('go on');
  expect((await service.callLines('reached')).sort()).toEqual([
    'inner echo 200',
    'inner echo 200',
    'outer inner 200',
  ]);
});

test('covers all nodes of a swarm or graph with a covered agent', async () => {
  const handoff = (args: Record<string, unknown>) => ({ name: 'strands_structured_output', args });
  const first = agentOf('first', [[echo], [handoff({ agentId: 'second', message: 'yours' })]], {
    interventions: interventions('swarm'),
  });
  const second = agentOf('second', [[fail], [handoff({ message: 'done' })]]);
  await new Swarm({ nodes: [first.agent, second.agent], maxSteps: 5 }).invoke('go');
  expect(await service.callLines('swarm')).toEqual(['first echo 200', 'second fail 403']);

  const head = agentOf('head', [[fail]]);
  const tail = agentOf('tail', [[echo]], { interventions: interventions('graph') });
  await new Graph({ nodes: [head.agent, tail.agent], edges: [['head', 'tail']] }).invoke('go');
  expect(head.ran).toEqual([]);
  expect(await service.callLines('graph')).toEqual(['head fail 403', 'tail echo 200']);
});
