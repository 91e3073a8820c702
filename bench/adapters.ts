import { adapterHarnesses } from '../scripts/adapter-harnesses.ts';
import type { CallCost, Way } from './adapters/agent-runs.ts';
import { type AgentCosts, measureAgents } from './adapters/measured-agents.ts';
import { frameworks } from './adapters/peer-frameworks.ts';
import { ensurePeers } from './recorder/peer-packages.ts';

/** One-line description of this benchmark. */
export const description =
  'Cost that each adapter adds to a tool call of its framework, beside an empty hook, the least recorder and others';

/** Limit for {@link Cost.timesDelivering}. */
const maxTimesDelivering = 2;

/** Microseconds per call: the framework's own, and those added to it. */
interface Cost {
  /** From one call to the next. */
  readonly bare: number;
  /** Added by an empty hook of the user. */
  readonly emptyHook: number;
  /** Added in the same hook by the least recorder, which only keeps a hash and writes a file. */
  readonly least: number;
  readonly actlog: number;
  /** Cost above the empty hook, as a multiple of the least recorder's, which delivers nothing. */
  readonly timesLeast: number;
  /** Added processor time of the least recorder that also delivers, including delivery. */
  readonly deliveringCpu: number;
  /** Added processor time, including delivery. */
  readonly actlogCpu: number;
  /**
   * Processor time above the empty hook, as a multiple of that of the least recorder that also delivers. The process of
   * the agent pays for all of it, within a call or after it.
   */
  readonly timesDelivering: number;
}

/** Cost that a recorder adds to a call, in microseconds. */
interface AddedCost {
  readonly adds: number;
  /** Part above an empty user hook. */
  readonly aboveEmptyHook: number;
  /** Added processor time, including delivery. */
  readonly addsCpu: number;
  /** Part above an empty hook. */
  readonly cpuAboveEmptyHook: number;
}

/**
 * Adapters that are only measured by name. The agent of the Claude Agent SDK is a program of its own: one that starts for
 * a second and answers a call in milliseconds hides the tenth of a millisecond that a hook takes.
 */
const onlyByName: ReadonlySet<string> = new Set(['claude-agent-sdk']);

/**
 * Options: names of adapters (default: all but that of the Claude Agent SDK), `--rounds=N` (default 8), `--no-peers`,
 * `--json`. Each agent is run in every way, in short turns, ours in one process and other recorders each in their own;
 * figures are medians of the differences within a turn.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.split('=')[1] ?? 8);
  const only = args.filter((arg) => !arg.startsWith('--'));
  const print = (title: string, table: object) => {
    if (args.includes('--json')) return;
    console.log(`\n${title}`);
    console.table(table);
  };
  const adapters: Record<string, Cost> = {};
  const besidePeers: Record<string, Record<string, AddedCost>> = {};
  const hasPeers = !args.includes('--no-peers') && ensurePeers();
  for (const { sdk, hook = '' } of await adapterHarnesses(only)) {
    const adapter = sdk.slice('@actlog/'.length, sdk.lastIndexOf('/'));
    if (onlyByName.has(adapter) && !only.includes(adapter)) continue;
    const framework = frameworks[adapter];
    const peers = hasPeers && framework && hook.includes(framework.hook) ? framework.peers : [];
    const costs = await measureAgents({ adapter, hook, peers }, rounds);
    adapters[`${adapter} ${hook}`] = costOf(costs);
    print('Microseconds a call', { [`${adapter} ${hook}`]: costOf(costs) });
    if (peers.length === 0) continue;
    const added = ['empty', 'least', 'delivering', 'actlog', ...peers].map((way) => [
      way,
      addedCost(costs, way),
    ]);
    besidePeers[adapter] = Object.fromEntries(added);
    print(`Microseconds that a recorder adds to a call of ${adapter}`, besidePeers[adapter] as object);
  }
  print(`Microseconds a call; timesDelivering is to be at most ${maxTimesDelivering}`, adapters);
  return { adapters, besidePeers };
}

function costOf(costs: AgentCosts): Cost {
  const times = (way: Way, figure: keyof CallCost) => {
    const multiple = costs.above('actlog', 'empty')[figure] / costs.above(way, 'empty')[figure];
    return Number(multiple.toFixed(1));
  };
  return {
    bare: costs.above('bare', undefined).micros,
    emptyHook: costs.above('empty', 'bare').micros,
    least: costs.above('least', 'bare').micros,
    actlog: costs.above('actlog', 'bare').micros,
    timesLeast: times('least', 'micros'),
    deliveringCpu: costs.above('delivering', 'bare').cpuMicros,
    actlogCpu: costs.above('actlog', 'bare').cpuMicros,
    timesDelivering: times('delivering', 'cpuMicros'),
  };
}

function addedCost(costs: AgentCosts, way: string): AddedCost {
  const aboveBare = costs.above(way, 'bare');
  const aboveEmpty = costs.above(way, 'empty');
  return {
    adds: aboveBare.micros,
    aboveEmptyHook: aboveEmpty.micros,
    addsCpu: aboveBare.cpuMicros,
    cpuAboveEmptyHook: aboveEmpty.cpuMicros,
  };
}
