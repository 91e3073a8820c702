import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Recorder } from '@actlog/recorder';
import type { AdapterHarness, Scenario } from '../packages/adapter-suite/src/index.ts';
import { median } from './measure/interleaved-rounds.ts';
import { SinkProcess } from './recorder/sink-process.ts';
import { temporaryFolder } from './recorder/temporary-folder.ts';

/** What this benchmark measures, in a line. */
export const description =
  'What each adapter adds to a tool call of its framework, beside an empty hook of the same kind';

/** Turns of the scripted model in one run, with one call each: frameworks end a run that takes many more. */
const turns = 4;

/** Runs whose time is taken together. */
const runs = 10;

/** The ways in which an agent is run: as it is, with a hook of the user's own that does nothing, with actlog. */
const ways = ['bare', 'empty', 'actlog'] as const;
type Way = (typeof ways)[number];

/** Microseconds a call: the framework's own, and what is added to it. */
interface Cost {
  readonly bareMicros: number;
  readonly emptyHookAdds: number | '–';
  readonly actlogAdds: number;
}

async function harnesses(only: readonly string[]): Promise<Map<string, AdapterHarness>> {
  const root = join(import.meta.dirname, '..');
  const found = new Map<string, AdapterHarness>();
  for (const file of globSync('packages/adapters/*/tests/harness.ts', { cwd: root }).sort()) {
    if (only.length > 0 && !only.some((name) => file.includes(`adapters/${name}/`))) continue;
    const exported = Object.values(await import(pathToFileURL(join(root, file)).href));
    for (const value of exported as Partial<AdapterHarness>[]) {
      if (!value?.abilities || !value.run) continue;
      const { sdk = '', hook = '' } = value;
      found.set(
        `${sdk.slice('@actlog/'.length, sdk.lastIndexOf('/'))} ${hook}`.trim(),
        value as AdapterHarness,
      );
    }
  }
  return found;
}

let sessions = 0;

function scenarioOf(way: Way, recorder: Recorder): Scenario {
  sessions += 1;
  return {
    tools: [{ name: 'echo', run: async ({ text }) => text }],
    turns: Array.from({ length: turns }, (_, turn) => [
      { toolName: 'echo', arguments: { text: `turn ${turn}` } },
    ]),
    sessionId: `bench-${sessions}`,
    ...(way === 'actlog' && { adapter: { recorder } }),
    ...(way === 'empty' && { ownHook: () => {} }),
  };
}

async function microsPerCall(harness: AdapterHarness, way: Way, recorder: Recorder): Promise<number> {
  const startedMs = performance.now();
  for (let count = 0; count < runs; count += 1) {
    const { error } = await harness.run(scenarioOf(way, recorder));
    if (error) throw error;
  }
  return ((performance.now() - startedMs) * 1000) / (turns * runs);
}

/**
 * Options: names of adapters (default: all), `--rounds=N` (default 15), `--json`. All ways of all adapters are taken in
 * turns; the first round warms up. Figures are medians of the differences within a round.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.split('=')[1] ?? 15);
  const all = await harnesses(args.filter((arg) => !arg.startsWith('--')));
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
        const costs = measured.get(name) ?? { bare: [], empty: [], actlog: [] };
        measured.set(name, costs);
        for (let turn = 0; turn < ways.length; turn += 1) {
          const way = ways[(turn + round) % ways.length] as Way;
          if (way === 'empty' && !harness.abilities.hasOwnHooks) continue;
          const micros = await microsPerCall(harness, way, recorder);
          if (round > 0) costs[way].push(micros);
          // What was recorded is delivered before the next way begins, so that it pays for itself alone.
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
    console.log(`Microseconds a call, median of ${rounds} rounds of ${turns * runs} calls`);
    console.table(result);
  }
  return { adapters: result };
}

function costOf({ bare, empty, actlog }: Record<Way, number[]>): Cost {
  const added = (costs: readonly number[]) =>
    Number(median(costs.map((cost, round) => cost - (bare[round] as number))).toFixed(1));
  return {
    bareMicros: Number(median(bare).toFixed(1)),
    emptyHookAdds: empty.length > 0 ? added(empty) : '–',
    actlogAdds: added(actlog),
  };
}
