// Runs one agent in several ways: `ADAPTER HOOK WAY[,WAY…] URL`, where HOOK is the name of a harness's hook, and WAY is one
// of ours or another recorder's name. Ours take turns in one process, because processes that run the same code differ by
// more than a recorder costs. Other recorders are registered for a whole process, so each has its own.
// Every message of the parent is a working time in milliseconds; the response is the cost of a call in each way.
import { Recorder } from '@actlog/recorder';
import { adapterHarnesses } from '../../scripts/adapter-harnesses.ts';
import { median } from '../measure/interleaved-rounds.ts';
import { LeastDelivery } from '../recorder/least-delivery.ts';
import { temporaryFolder } from '../recorder/temporary-folder.ts';
import {
  type CallCost,
  callsTogether,
  type HookedWay,
  isWay,
  microsOfCalls,
  ownHookOf,
} from './agent-runs.ts';
import { frameworks, type InstalledPeer } from './peer-frameworks.ts';

type Install = (framework: object | undefined, url: string) => Promise<InstalledPeer>;

const [adapter = '', hook = '', ways = '', url = ''] = process.argv.slice(2);

async function installPeer(way: string, framework: object | undefined): Promise<InstalledPeer> {
  const { installers } = (await import(new URL('../peers/frameworks.mjs', import.meta.url).href)) as {
    installers: Record<string, Record<string, Install>>;
  };
  const install = installers[adapter]?.[way];
  if (!install) throw new Error(`There is no recorder "${way}" for ${adapter}.`);
  return install(framework, url);
}

/**
 * Returns the function that runs an agent and delivers its events; it resolves with the microseconds of
 * each call.
 */
async function workOf(way: string): Promise<() => Promise<number[]>> {
  const { load, silence, agentWith } = frameworks[adapter] ?? {};
  const framework = await load?.();
  if (framework) silence?.(framework as never);
  const harness = (await adapterHarnesses([adapter])).find((one) => (one.hook ?? '') === hook);
  if (!harness) throw new Error(`${adapter} has no hook "${hook}".`);
  if (way === 'actlog') {
    const spoolDir = temporaryFolder();
    const keys = { apiKey: 'al_test_benchmark', agentId: 'benchmark' };
    const recorder = new Recorder({ ...keys, baseURL: url, spoolDir });
    return () => timed(harness, { adapter: { recorder } }, () => recorder.flush());
  }
  if (isWay(way)) {
    const delivery = way === 'delivering' ? new LeastDelivery(url) : undefined;
    const ownHook = ownHookOf(way, delivery);
    return () => timed(harness, { ownHook }, async () => delivery?.drained());
  }
  const peer = await installPeer(way, framework);
  const run = (await agentWith?.(peer)) ?? harness.run;
  return () => timed({ ...harness, run }, {}, peer.deliver);
}

/** Times calls; events are delivered before the next round so that the backlog is not measured. */
async function timed(
  harness: Parameters<typeof microsOfCalls>[0],
  as: HookedWay,
  deliver: () => Promise<unknown>,
): Promise<number[]> {
  const micros = await microsOfCalls(harness, as);
  await deliver();
  return micros;
}

const works = await Promise.all(ways.split(',').map(async (way) => ({ way, work: await workOf(way) })));

/** Runs the agent in every way until the time is over; each round begins with another way. */
async function workFor(timeMs: number): Promise<Record<string, CallCost>> {
  const endsAtMs = performance.now() + timeMs;
  const costs = new Map<string, CallCost[]>(works.map(({ way }) => [way, []]));
  let round = 0;
  do {
    for (const place of works.keys()) {
      const { way, work } = works[(round + place) % works.length] as (typeof works)[number];
      const before = process.cpuUsage();
      const micros = median(await work());
      const { user, system } = process.cpuUsage(before);
      costs.get(way)?.push({ micros, cpuMicros: (user + system) / callsTogether });
    }
    round += 1;
  } while (performance.now() < endsAtMs);
  return Object.fromEntries([...costs].map(([way, all]) => [way, costOfRounds(all)]));
}

function costOfRounds(costs: readonly CallCost[]): CallCost {
  const cpuMicros = costs.reduce((sum, cost) => sum + cost.cpuMicros, 0) / costs.length;
  return { micros: median(costs.map(({ micros }) => micros)), cpuMicros };
}

process.on('message', async (timeMs: number) => process.send?.(await workFor(timeMs)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
