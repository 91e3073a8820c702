// Runs one agent with one recorder in its own process, because other recorders are registered for a whole process:
// `ADAPTER HOOK WAY URL`, where HOOK is the name of a harness's hook, and WAY is one of ours or another recorder's name.
// Every message of the parent is a working time in milliseconds; the response is the cost of a call.
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
  microsOfRuns,
  ownHookOf,
} from './agent-runs.ts';
import { frameworks, type InstalledPeer } from './peer-frameworks.ts';

type Install = (framework: object | undefined, url: string) => Promise<InstalledPeer>;

const [adapter = '', hook = '', way = '', url = ''] = process.argv.slice(2);

async function installPeer(framework: object | undefined): Promise<InstalledPeer> {
  const { installers } = (await import(new URL('../peers/frameworks.mjs', import.meta.url).href)) as {
    installers: Record<string, Record<string, Install>>;
  };
  const install = installers[adapter]?.[way];
  if (!install) throw new Error(`There is no recorder "${way}" for ${adapter}.`);
  return install(framework, url);
}

/**
 * Returns the function that runs an agent and delivers its events; it resolves with the microseconds per call
 * of each run.
 */
async function workOf(): Promise<() => Promise<number[]>> {
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
  const peer = await installPeer(framework);
  const run = (await agentWith?.(peer)) ?? harness.run;
  return () => timed({ ...harness, run }, {}, peer.deliver);
}

/** Times calls; events are delivered before the next round so that the backlog is not measured. */
async function timed(
  harness: Parameters<typeof microsOfRuns>[0],
  as: HookedWay,
  deliver: () => Promise<unknown>,
): Promise<number[]> {
  const micros = await microsOfRuns(harness, as);
  await deliver();
  return micros;
}

const work = await workOf();

async function workFor(timeMs: number): Promise<CallCost> {
  const before = process.cpuUsage();
  const endsAtMs = performance.now() + timeMs;
  let rounds = 0;
  const micros: number[] = [];
  do {
    micros.push(...(await work()));
    rounds += 1;
  } while (performance.now() < endsAtMs);
  const { user, system } = process.cpuUsage(before);
  return { micros: median(micros), cpuMicros: (user + system) / rounds / callsTogether };
}

process.on('message', async (timeMs: number) => process.send?.(await workFor(timeMs)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
