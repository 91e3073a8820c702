import { Service } from '@actlog/adapter-suite';
import { Mastra } from '@mastra/core';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inThread, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const echoing = [[{ name: 'echo', args: { text: 'x' } }]];
const any = { inputSchema: z.any(), outputSchema: z.any() };

function workerOf(id: string, more: Partial<Parameters<typeof agentOf>[0]> = {}) {
  const { echo } = tools();
  return agentOf({ id, turns: echoing, tools: { echo }, memory: false, ...more }).agent;
}

/** Creates a step whose function runs an agent, as the examples of Mastra do. */
function asking(id: string, options = {}) {
  const execute = async ({ mastra }: { mastra?: Mastra }) => {
    const reply = await mastra?.getAgent(id).generate('go', options);
    return { prompt: reply?.text };
  };
  return createStep({ id: `ask-${id}`, ...any, execute } as never);
}

test.each(['process', 'hooks'])('uses one session for all agents of a workflow run: %s', async (place) => {
  const adapter = { recorder: service.recorder() };
  if (place === 'process') onTestFinished(actlog.install(adapter));
  const hooks = place === 'hooks' ? { hooks: actlog(adapter) } : {};
  const [first, second, third] = ['first', 'second', 'third'].map((id) => workerOf(id, hooks));
  const inner = createWorkflow({ id: 'inner', ...any })
    .then(asking('second'))
    .commit();
  const workflow = createWorkflow({ id: 'outer', ...any })
    .then(asking('first'))
    .then(inner as never)
    .then(createStep(third as never))
    .commit();
  new Mastra({ logger: false, workflows: { workflow }, agents: { first, second, third } as never });
  const runs = [await workflow.createRun(), await workflow.createRun()];
  for (const run of runs) expect((await run.start({ inputData: {} })).status).toBe('success');
  // The scripted models have no more calls in the second run.
  expect(await service.callLines(runs[0]?.runId ?? '')).toEqual([
    'first echo 200',
    'second echo 200',
    'third echo 200',
  ]);
  expect(await service.events(runs[1]?.runId ?? '')).toEqual([]);
});

test('keeps a resumed workflow run in its session', async () => {
  onTestFinished(actlog.install({ recorder: service.recorder(), agentId: 'resumed' }));
  const pause = createStep({
    id: 'pause',
    ...any,
    suspendSchema: z.any(),
    resumeSchema: z.any(),
    execute: async ({ resumeData, suspend }: { resumeData?: unknown; suspend: (data: object) => unknown }) =>
      resumeData ?? suspend({}),
  } as never);
  const workflow = createWorkflow({ id: 'pausing', ...any })
    .then(asking('before'))
    .then(pause)
    .then(asking('after'))
    .commit();
  const agents = { before: workerOf('before'), after: workerOf('after') };
  new Mastra({ logger: false, workflows: { workflow }, agents, storage: new InMemoryStore() });
  const run = await workflow.createRun();
  expect((await run.start({ inputData: {} })).status).toBe('suspended');
  const { status } = await run.resume({ step: 'pause', resumeData: { go: 'on' } } as never);
  expect(status).toBe('success');
  expect(await service.callLines(run.runId)).toEqual(['resumed echo 200', 'resumed echo 200']);
});

test('keeps the thread of an agent that a workflow runs', async () => {
  onTestFinished(actlog.install({ recorder: service.recorder() }));
  const worker = agentOf({ id: 'threaded', turns: echoing, tools: { echo: tools().echo } }).agent;
  const workflow = createWorkflow({ id: 'with-thread', ...any })
    .then(asking('threaded', inThread('own-thread')))
    .commit();
  new Mastra({ logger: false, workflows: { workflow }, agents: { threaded: worker } });
  await (await workflow.createRun()).start({ inputData: {} });
  expect(await service.callLines('own-thread')).toEqual(['threaded echo 200']);
});
