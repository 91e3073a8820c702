import { median } from '../measure/interleaved-rounds.ts';
import { ensurePeers } from '../recorder/peer-packages.ts';
import { SinkProcess } from '../recorder/sink-process.ts';
import type { CallCost } from './agent-runs.ts';
import { PeerAgent } from './peer-agent.ts';
import { frameworks } from './peer-frameworks.ts';

/** Microseconds that a recorder adds to a call. */
export interface AddedCost {
  readonly adds: number;
  /** Of that, what is above an empty hook of the user's own. */
  readonly aboveEmptyHook: number;
  /** Processor time that it adds, with the delivery of what it recorded. */
  readonly addsCpu: number;
  /** Of that, what is above an empty hook. */
  readonly cpuAboveEmptyHook: number;
}

/** Processes of each recorder, one after the other: how fast one runs differs from the next. */
const generations = 2;
/** Until the code is compiled for good. */
const warmUpMs = 2000;
/** So long is a turn. */
const turnMs = 200;

/**
 * Our adapter beside other recorders, each in a process of its own. They take short turns, and differences are taken
 * within a turn of all, so that whatever else the machine does falls on all alike.
 *
 * @param turns - of each process
 */
export async function measureBesidePeers(
  adapter: string,
  turns: number,
): Promise<Record<string, AddedCost> | undefined> {
  const framework = frameworks[adapter];
  if (!framework || !ensurePeers()) return undefined;
  const ways = ['bare', 'empty', 'actlog', ...framework.peers];
  const costs = new Map<string, CallCost[]>(ways.map((way) => [way, []]));
  const sink = await SinkProcess.start();
  try {
    for (let generation = 0; generation < generations; generation += 1) {
      await takeTurns(adapter, turns, sink, costs);
    }
  } finally {
    sink.stop();
  }
  const above = (figure: keyof CallCost, way: string, floor: string) => {
    const floors = costs.get(floor) ?? [];
    const added = costs.get(way)?.map((cost, turn) => cost[figure] - (floors[turn]?.[figure] ?? Number.NaN));
    return Number(median(added ?? []).toFixed(1));
  };
  return Object.fromEntries(
    ways.slice(1).map((way) => [
      way,
      {
        adds: above('micros', way, 'bare'),
        aboveEmptyHook: above('micros', way, 'empty'),
        addsCpu: above('cpuMicros', way, 'bare'),
        cpuAboveEmptyHook: above('cpuMicros', way, 'empty'),
      },
    ]),
  );
}

/** Adds the costs of one generation of processes. */
async function takeTurns(
  adapter: string,
  turns: number,
  sink: SinkProcess,
  costs: ReadonlyMap<string, CallCost[]>,
): Promise<void> {
  const ways = [...costs.keys()];
  const agents = new Map<string, PeerAgent>();
  try {
    for (const way of ways) agents.set(way, await PeerAgent.start(adapter, way, sink.url));
    for (const agent of agents.values()) await agent.work(warmUpMs);
    for (let turn = 0; turn < turns; turn += 1) {
      for (let place = 0; place < ways.length; place += 1) {
        const way = ways[(turn + place) % ways.length] as string;
        costs.get(way)?.push((await agents.get(way)?.work(turnMs)) as CallCost);
      }
      await sink.forget();
    }
  } finally {
    for (const agent of agents.values()) agent.stop();
  }
}
