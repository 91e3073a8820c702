import type { Actlog } from '@actlog/client';
import type { RecorderOptions } from '@actlog/recorder';
import type { AdapterOptions } from '@actlog/recorder/adapter';
import { expect } from 'vitest';
import { type AdapterCase, bare, comparable, echoes, suiteTools } from '../adapter-case.ts';
import type { AdapterHarness, Ending } from '../harness.ts';
import { deadAddress } from './guarding.ts';

function broken(): never {
  throw new Error('the user broke it');
}

const silent = { onError: () => {}, onDrop: () => {} };

/** Broken recorders. */
const brokenRecorders: Record<string, (client: Actlog) => RecorderOptions | Promise<RecorderOptions>> = {
  'a service that is down, and no disk': async () => ({
    ...silent,
    baseURL: await deadAddress(),
    apiKey: 'al_test_nobody',
    spool: false,
  }),
  'callbacks that throw, and no room': (client) => ({
    client,
    spool: false,
    maxQueuedEvents: 1,
    onError: broken,
    onDrop: broken,
  }),
  'a status mapping that throws': (client) => ({ client, ...silent, responseStatus: broken }),
  'an agent id that nobody could take': (client) => ({ client, ...silent, agentId: 'x'.repeat(100_000) }),
};

/** Options of the adapter that are invalid when a call is made. */
const brokenOptions: Record<string, AdapterOptions> = {
  'a session function that throws': { sessionId: broken },
  'a name mapping that throws': { toolName: broken },
  'a status mapping that throws': { responseStatus: broken },
  'a filter that throws': { include: broken, exclude: broken },
  'functions that return nonsense': {
    sessionId: () => 5 as never,
    toolName: () => ({}) as never,
    responseStatus: () => 'no' as never,
  },
};

/** Cases about failures of the adapter, which must not affect the agent. */
export const robustnessCases: readonly AdapterCase[] = [
  ...Object.entries(brokenRecorders).map(
    ([what, options]): AdapterCase => ({
      name: `with ${what}, the run is as it is without`,
      async check({ harness, service, sessionId }) {
        const recorder = service.doomedRecorder(await options(service.client));
        await expectSameRun({ harness, sessionId, adapter: { recorder } });
      },
    }),
  ),
  {
    name: 'with a recorder that is closed, the run is as it is without',
    async check({ harness, service, sessionId }) {
      const recorder = service.doomedRecorder({ ...silent, client: service.client });
      await recorder.close();
      await expectSameRun({ harness, sessionId, adapter: { recorder } });
    },
  },
  ...Object.entries(brokenOptions).map(
    ([what, options]): AdapterCase => ({
      name: `with ${what}, the run is as it is without, and its calls are recorded`,
      async check({ harness, service, sessionId }) {
        const recorder = service.recorder({ ...silent, agentId: sessionId });
        await expectSameRun({ harness, sessionId, adapter: { recorder, ...options } });
        await recorder.flush();
        expect(recorder.stats()).toMatchObject({ delivered: 2, dropped: 0 });
      },
    }),
  ),
];

/** Runs without an adapter, one per harness: the scenario is always the same, and some frameworks are slow to start. */
const bareRuns = new WeakMap<AdapterHarness, Promise<Ending>>();

async function expectSameRun(given: {
  readonly harness: AdapterHarness;
  readonly sessionId: string;
  readonly adapter: AdapterOptions;
}): Promise<void> {
  const { harness, ...rest } = given;
  const turns = [echoes('x'), [{ toolName: 'fail', arguments: { text: 'x' } }]];
  const scenario = { tools: suiteTools().all, turns, ...rest };
  const bareRun = bareRuns.get(harness) ?? bare(harness, scenario);
  bareRuns.set(harness, bareRun);
  expect(comparable(await harness.run(scenario))).toEqual(comparable(await bareRun));
}
