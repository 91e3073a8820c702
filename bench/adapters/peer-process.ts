// One agent with one recorder in a process of its own, because other recorders are registered for a whole process:
// `ADAPTER WAY URL ROUNDS`, where WAY is `bare`, `empty`, `actlog` or another recorder's name.
import { Recorder } from '@actlog/recorder';
import { adapterHarnesses } from '../../scripts/adapter-harnesses.ts';
import { median } from '../measure/interleaved-rounds.ts';
import { temporaryFolder } from '../recorder/temporary-folder.ts';
import { type CallCost, callsTogether, microsPerCall, type Way } from './agent-runs.ts';
import { frameworks } from './peer-frameworks.ts';

type Install = (framework: object, url: string) => Promise<() => Promise<unknown>>;

const [adapter = '', way = '', url = '', rounds = '0'] = process.argv.slice(2);

/** Rounds until the code is compiled for good. */
const warmUpRounds = 60;

async function installPeer(framework: object): Promise<() => Promise<unknown>> {
  const { installers } = (await import(new URL('../peers/frameworks.mjs', import.meta.url).href)) as {
    installers: Record<string, Record<string, Install>>;
  };
  const install = installers[adapter]?.[way];
  if (!install) throw new Error(`There is no recorder "${way}" for ${adapter}.`);
  return install(framework, url);
}

function ownRecorder(): Recorder {
  const spoolDir = temporaryFolder();
  return new Recorder({ apiKey: 'al_test_benchmark', baseURL: url, agentId: 'benchmark', spoolDir });
}

const { load, hook, silence } = frameworks[adapter] as (typeof frameworks)[string];
const framework = await load();
silence?.(framework as never);
const isOwn = way === 'bare' || way === 'empty' || way === 'actlog';
const recorder = isOwn ? ownRecorder() : undefined;
const flush = recorder ? () => recorder.flush() : await installPeer(framework);
const harness = (await adapterHarnesses([adapter])).find((one) => one.hook?.includes(hook));
if (!harness) throw new Error(`${adapter} has no hook "${hook}".`);
const measured: number[] = [];
const cpu: number[] = [];
for (let round = 0; round < warmUpRounds + Number(rounds); round += 1) {
  const before = process.cpuUsage();
  const micros = await microsPerCall(harness, isOwn ? (way as Way) : 'bare', { recorder });
  // What was recorded is delivered before the next round, so that calls are timed and not the backlog.
  await flush();
  if (round < warmUpRounds) continue;
  const { user, system } = process.cpuUsage(before);
  measured.push(micros);
  cpu.push((user + system) / callsTogether);
}
process.send?.({ micros: median(measured), cpuMicros: median(cpu) } satisfies CallCost);
process.exit();
