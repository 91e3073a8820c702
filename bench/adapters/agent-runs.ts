import type { AdapterHarness, Scenario } from '../../packages/adapter-suite/src/index.ts';
import { leastRecorder } from '../recorder/least-recorder.ts';

/**
 * How an agent is run: as it is, with a hook of the user's own that does nothing, with one that does what no recorder
 * can save, or with an adapter of ours.
 */
export const ways = ['bare', 'empty', 'least', 'actlog'] as const;
export type Way = (typeof ways)[number];

/** Whether a name is that of a way. */
export function isWay(name: string): name is Way {
  return ways.some((way) => way === name);
}

/** What a call of an agent costs, its framework included. */
export interface CallCost {
  /** Microseconds from call to call, in the middle of all runs: what comes now and then is in `cpuMicros` alone. */
  readonly micros: number;
  /** Microseconds of processor time, the delivery of what was recorded included. */
  readonly cpuMicros: number;
}

/** Turns of the scripted model in one run, with one call each: frameworks end a run that takes many more. */
const turns = 4;

/** Runs between two deliveries. */
const runs = 10;

/** Calls between two deliveries. */
export const callsTogether: number = turns * runs;

/** What the user's own hook does, in the ways that have one. */
const ownHooks: Partial<Record<Way, () => void>> = {
  empty: () => {},
  least: () => {
    // Its file is made only where it is written to.
    recordLeast ??= leastRecorder(true);
    recordLeast(sessions, { text: 'turn 1' });
  },
};

let recordLeast: ReturnType<typeof leastRecorder> | undefined;

let sessions = 0;

/** Whether agents run in this way have a hook of the user's own. */
export function needsOwnHook(way: Way): boolean {
  return way in ownHooks;
}

function scenarioOf(way: Way, adapter: Scenario['adapter']): Scenario {
  sessions += 1;
  const ownHook = ownHooks[way];
  return {
    tools: [{ name: 'echo', run: async ({ text }) => text }],
    turns: Array.from({ length: turns }, (_, turn) => [
      { toolName: 'echo', arguments: { text: `turn ${turn}` } },
    ]),
    sessionId: `bench-${sessions}`,
    ...(way === 'actlog' && adapter && { adapter }),
    ...(ownHook && { ownHook }),
  };
}

/** Microseconds a call, framework included, of each run of an agent that is run some times. */
export async function microsOfRuns(
  harness: AdapterHarness,
  way: Way,
  adapter: Scenario['adapter'],
): Promise<number[]> {
  const micros: number[] = [];
  while (micros.length < runs) {
    const scenario = scenarioOf(way, adapter);
    const startedMs = performance.now();
    const { error } = await harness.run(scenario);
    micros.push(((performance.now() - startedMs) * 1000) / turns);
    if (error) throw error;
  }
  return micros;
}
