import { join } from 'node:path';
import { medianAbove, takeShortTurns } from '../measure/short-turns.ts';
import { ensurePeers } from '../recorder/peer-packages.ts';
import { SinkProcess } from '../recorder/sink-process.ts';
import { type CallCost, ways } from './agent-runs.ts';
import { frameworks } from './peer-frameworks.ts';

/** Cost that a recorder adds to a call, in microseconds. */
export interface AddedCost {
  readonly adds: number;
  /** Part above an empty user hook. */
  readonly aboveEmptyHook: number;
  /** Added processor time, including delivery. */
  readonly addsCpu: number;
  /** Part above an empty hook. */
  readonly cpuAboveEmptyHook: number;
}

const program = join(import.meta.dirname, 'peer-process.ts');

/**
 * Our adapter beside other recorders, each in a process of its own, in short turns.
 *
 * @param turns - of each process
 */
export async function measureBesidePeers(
  adapter: string,
  turns: number,
): Promise<Record<string, AddedCost> | undefined> {
  const framework = frameworks[adapter];
  if (!framework || !ensurePeers()) return undefined;
  const sink = await SinkProcess.start();
  try {
    const costs = await takeShortTurns<CallCost>({
      names: [...ways, ...framework.peers],
      program: (way) => [program, adapter, way, sink.url],
      warmUp: 2000,
      turn: 200,
      turns,
      generations: 2,
      afterTurns: () => sink.forget(),
    });
    return Object.fromEntries(
      [...costs].slice(1).map(([way, own]) => [way, addedCost(own, costs.get('bare'), costs.get('empty'))]),
    );
  } finally {
    sink.stop();
  }
}

function addedCost(
  costs: readonly CallCost[],
  bare: readonly CallCost[] = [],
  empty: readonly CallCost[] = [],
): AddedCost {
  const aboveBare = medianAbove(costs, bare);
  const aboveEmpty = medianAbove(costs, empty);
  return {
    adds: aboveBare.micros,
    aboveEmptyHook: aboveEmpty.micros,
    addsCpu: aboveBare.cpuMicros,
    cpuAboveEmptyHook: aboveEmpty.cpuMicros,
  };
}
