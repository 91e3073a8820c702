import type { AdapterHarness, Scenario } from '../../testing/adapter-suite/src/index.ts';
import { leastRecorder } from '../recorder/least-recorder.ts';

/**
 * Ways to run an agent: unmodified, with an empty user hook, with a hook that does the minimum of any recorder, or with
 * our adapter.
 */
export const ways = ['bare', 'empty', 'least', 'actlog'] as const;
export type Way = (typeof ways)[number];

/** `true` if a name is one of the ways. */
export function isWay(name: string): name is Way {
  return ways.some((way) => way === name);
}

/** Cost of an agent's call, including its framework. */
export interface CallCost {
  /** Median microseconds between calls over all runs; occasional work only appears in `cpuMicros`. */
  readonly micros: number;
  /** Microseconds of processor time, including delivery. */
  readonly cpuMicros: number;
}

/** Turns of the scripted model in one run, with one call each: frameworks end a run that takes many more. */
const turns = 4;

/** Runs between two deliveries. */
const runs = 10;

/** Calls between two deliveries. */
export const callsTogether: number = turns * runs;

/** Hook functions of the ways that use one. */
const ownHooks: Partial<Record<Way, () => void>> = {
  empty: () => {},
  least: () => {
    // The file is only created if it is written to.
    recordLeast ??= leastRecorder(true);
    recordLeast(sessions, { text: 'turn 1' });
  },
};

let recordLeast: ReturnType<typeof leastRecorder> | undefined;

let sessions = 0;

function scenarioOf(harness: AdapterHarness, way: Way, adapter: Scenario['adapter']): Scenario {
  sessions += 1;
  const { hasOwnHooks } = harness.abilities;
  const ownHook = hasOwnHooks ? ownHooks[way] : undefined;
  // Where users have no hooks of that kind, the tool itself is the place.
  const inTool = hasOwnHooks ? undefined : ownHooks[way];
  return {
    tools: [
      {
        name: 'echo',
        run: async ({ text }) => {
          inTool?.();
          return text;
        },
      },
    ],
    turns: Array.from({ length: turns }, (_, turn) => [
      { toolName: 'echo', arguments: { text: `turn ${turn}` } },
    ]),
    sessionId: `bench-${sessions}`,
    ...(way === 'actlog' && adapter && { adapter }),
    ...(ownHook && { ownHook }),
  };
}

/** Returns the microseconds per call, including the framework, of each run. */
export async function microsOfRuns(
  harness: AdapterHarness,
  way: Way,
  adapter: Scenario['adapter'],
): Promise<number[]> {
  const micros: number[] = [];
  while (micros.length < runs) {
    const scenario = scenarioOf(harness, way, adapter);
    const startedMs = performance.now();
    const { error } = await harness.run(scenario);
    micros.push(((performance.now() - startedMs) * 1000) / turns);
    if (error) throw error;
  }
  return micros;
}
