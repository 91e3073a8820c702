import { median } from '../measure/interleaved-rounds.ts';
import { runProgram } from '../recorder/child-program.ts';
import { ensurePeers } from '../recorder/peer-packages.ts';
import { SinkProcess } from '../recorder/sink-process.ts';
import type { CallCost } from './agent-runs.ts';
import { frameworks } from './peer-frameworks.ts';

/** Microseconds that a recorder adds to a call. */
export interface AddedCost {
  readonly adds: number;
  /** Of that, what is above an empty hook of the user's own. */
  readonly aboveEmptyHook: number;
  /** Processor time that it adds, with the delivery of what it recorded. */
  readonly addsCpu: number;
}

/** Rounds of one process; the median of them is one figure. */
const roundsInProcess = 40;

/** Our adapter beside other recorders, each in processes of their own that take turns. */
export async function measureBesidePeers(
  adapter: string,
  rounds: number,
): Promise<Record<string, AddedCost> | undefined> {
  const framework = frameworks[adapter];
  if (!framework || !ensurePeers()) return undefined;
  const ways = ['bare', 'empty', 'actlog', ...framework.peers];
  const sink = await SinkProcess.start();
  const costs = new Map<string, CallCost[]>(ways.map((way) => [way, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < ways.length; turn += 1) {
        const way = ways[(turn + round) % ways.length] as string;
        await sink.forget();
        const args = [adapter, way, sink.url, String(roundsInProcess)];
        costs.get(way)?.push(await runProgram<CallCost>('../adapters/peer-process.ts', args));
      }
    }
  } finally {
    sink.stop();
  }
  const above = (figure: keyof CallCost, way: string, floor: string) => {
    const floors = costs.get(floor) ?? [];
    const added = costs
      .get(way)
      ?.map((cost, round) => cost[figure] - (floors[round]?.[figure] ?? Number.NaN));
    return Number(median(added ?? []).toFixed(1));
  };
  return Object.fromEntries(
    ways.slice(1).map((way) => [
      way,
      {
        adds: above('micros', way, 'bare'),
        aboveEmptyHook: above('micros', way, 'empty'),
        addsCpu: above('cpuMicros', way, 'bare'),
      },
    ]),
  );
}
