import { join } from 'node:path';
import { medianAbove, takeShortTurns } from '../measure/short-turns.ts';
import { SinkProcess } from '../recorder/sink-process.ts';
import { type CallCost, type Way, ways } from './agent-runs.ts';

const program = join(import.meta.dirname, 'agent-process.ts');

/** An adapter's hook, as a process finds it. */
export interface MeasuredHook {
  /** Folder of the adapter. */
  readonly adapter: string;
  /** Name of the hook in the adapter's harness. */
  readonly hook: string;
  /** Names of other recorders to measure beside it. */
  readonly peers: readonly string[];
}

/** Costs of an agent's calls by the way it is run, ours or with another recorder, one for each turn. */
export class AgentCosts {
  readonly #costs: ReadonlyMap<string, readonly CallCost[]>;

  constructor(costs: ReadonlyMap<string, readonly CallCost[]>) {
    this.#costs = costs;
  }

  /** Returns the median cost of one way above another in the same turn. */
  above(way: string, floor: Way | undefined): CallCost {
    const costs = this.#costs.get(way) ?? [];
    const none = costs.map(() => ({ micros: 0, cpuMicros: 0 }));
    return medianAbove<keyof CallCost>(costs, floor ? (this.#costs.get(floor) ?? []) : none);
  }
}

/** Turn of a process for each of its ways, in milliseconds. */
const turnMs = 200;

/** Name of the process that runs an agent in all of our ways. */
const together = ways.join(',');

/**
 * Runs an agent in every way: ours in one process, other recorders each in a process of their own, in short turns.
 *
 * @param turns - of each process
 */
export async function measureAgents(
  { adapter, hook, peers }: MeasuredHook,
  turns: number,
): Promise<AgentCosts> {
  const sink = await SinkProcess.start();
  try {
    const turnCosts = await takeShortTurns<Readonly<Record<string, CallCost>>>({
      names: [together, ...peers],
      program: (names) => [program, adapter, hook, names, sink.url],
      warmUp: (names) => waysIn(names) * 10 * turnMs,
      turn: (names) => waysIn(names) * turnMs,
      turns,
      generations: 2,
      afterTurns: () => sink.forget(),
    });
    const costs = new Map<string, CallCost[]>();
    for (const turn of [...turnCosts.values()].flat()) {
      for (const [way, cost] of Object.entries(turn)) costs.set(way, [...(costs.get(way) ?? []), cost]);
    }
    return new AgentCosts(costs);
  } finally {
    sink.stop();
  }
}

function waysIn(names: string): number {
  return names.split(',').length;
}
