import { median } from '../measure/interleaved-rounds.ts';
import { runProgram } from '../recorder/child-program.ts';
import { ensurePeers } from '../recorder/peer-packages.ts';
import { SinkProcess } from '../recorder/sink-process.ts';
import { frameworks } from './peer-frameworks.ts';

/** Microseconds that a recorder adds to a call. */
export interface AddedCost {
  readonly adds: number;
  /** Of that, what is above an empty hook of the user's own. */
  readonly aboveEmptyHook: number;
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
  const costs = new Map<string, number[]>(ways.map((way) => [way, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < ways.length; turn += 1) {
        const way = ways[(turn + round) % ways.length] as string;
        await sink.forget();
        const args = [adapter, way, sink.url, String(roundsInProcess)];
        const { micros } = await runProgram<{ micros: number }>('../adapters/peer-process.ts', args);
        costs.get(way)?.push(micros);
      }
    }
  } finally {
    sink.stop();
  }
  const above = (way: string, floor: string) =>
    median((costs.get(way) ?? []).map((cost, round) => cost - (costs.get(floor)?.[round] ?? Number.NaN)));
  return Object.fromEntries(
    ways.slice(1).map((way) => [
      way,
      {
        adds: Number(above(way, 'bare').toFixed(1)),
        aboveEmptyHook: Number(above(way, 'empty').toFixed(1)),
      },
    ]),
  );
}
