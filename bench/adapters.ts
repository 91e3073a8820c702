import { Recorder } from '@actlog/recorder';
import { adapterHarnesses } from '../scripts/adapter-harnesses.ts';
import type { AdapterHarness } from '../testing/adapter-suite/src/index.ts';
import { callsTogether, microsOfRuns, needsOwnHook, type Way, ways } from './adapters/agent-runs.ts';
import { frameworks } from './adapters/peer-frameworks.ts';
import { measureBesidePeers } from './adapters/peers-beside.ts';
import { median } from './measure/interleaved-rounds.ts';
import { SinkProcess } from './recorder/sink-process.ts';
import { temporaryFolder } from './recorder/temporary-folder.ts';

/** One-line description of this benchmark. */
export const description =
  'Cost that each adapter adds to a tool call of its framework, compared with an empty hook of the same kind';

/** Microseconds per call: the framework's own, and the added cost. */
interface Cost {
  readonly bareMicros: number;
  readonly emptyHookAdds: number | '–';
  /** Minimum cost that no recorder can avoid. */
  readonly leastAdds: number | '–';
  readonly actlogAdds: number;
}

/** Returns the name of the adapter and its hook. */
function nameOf({ sdk, hook = '' }: AdapterHarness): string {
  return `${sdk.slice('@actlog/'.length, sdk.lastIndexOf('/'))} ${hook}`.trim();
}

/**
 * Options: names of adapters (default: all), `--rounds=N` (default 15), `--no-peers`, `--json`. All ways of all adapters
 * are taken in turns; the first round warms up. Figures are medians of the differences within a round. Then come those
 * adapters that other recorders have adapters beside, each in a process of its own.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.split('=')[1] ?? 15);
  const only = args.filter((arg) => !arg.startsWith('--'));
  const all = new Map((await adapterHarnesses(only)).map((harness) => [nameOf(harness), harness]));
  const sink = await SinkProcess.start();
  const recorder = new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: sink.url,
    agentId: 'benchmark',
    spoolDir: temporaryFolder(),
  });
  const measured = new Map<string, Record<Way, number[]>>();
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, harness] of all) {
        const costs = measured.get(name) ?? { bare: [], empty: [], least: [], actlog: [] };
        measured.set(name, costs);
        for (let turn = 0; turn < ways.length; turn += 1) {
          const way = ways[(turn + round) % ways.length] as Way;
          if (needsOwnHook(way) && !harness.abilities.hasOwnHooks) continue;
          const micros = median(await microsOfRuns(harness, way, { recorder }));
          if (round > 0) costs[way].push(micros);
          // Recorded events are delivered before the next variant starts, so that each pays only for itself.
          await recorder.flush();
        }
      }
      await sink.forget();
    }
  } finally {
    await recorder.close();
    sink.stop();
  }
  const result = Object.fromEntries([...measured].map(([name, costs]) => [name, costOf(costs)]));
  if (!args.includes('--json')) {
    console.log(`Microseconds a call, median of ${rounds} rounds of ${callsTogether} calls`);
    console.table(result);
  }
  const beside: Record<string, unknown> = {};
  for (const name of Object.keys(frameworks)) {
    if (args.includes('--no-peers') || (only.length > 0 && !only.includes(name))) continue;
    const costs = await measureBesidePeers(name, rounds);
    if (!costs) continue;
    beside[name] = costs;
    if (args.includes('--json')) continue;
    console.log(`\nMicroseconds that a recorder adds to a call of ${name}`);
    console.table(costs);
  }
  return { adapters: result, besidePeers: beside };
}

function costOf({ bare, empty, least, actlog }: Record<Way, number[]>): Cost {
  const added = (costs: readonly number[]) =>
    Number(median(costs.map((cost, round) => cost - (bare[round] as number))).toFixed(1));
  return {
    bareMicros: Number(median(bare).toFixed(1)),
    emptyHookAdds: empty.length > 0 ? added(empty) : '–',
    leastAdds: least.length > 0 ? added(least) : '–',
    actlogAdds: added(actlog),
  };
}
