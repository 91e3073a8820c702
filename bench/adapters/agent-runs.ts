import type { AdapterHarness, Scenario } from '../../testing/adapter-suite/src/index.ts';
import type { LeastDelivery } from '../recorder/least-delivery.ts';
import { leastRecorder } from '../recorder/least-recorder.ts';

/**
 * Ways to run an agent: unmodified, with an empty user hook, with a hook that does the minimum of any recorder, with one
 * that also delivers what it recorded, or with our adapter.
 */
export const ways = ['bare', 'empty', 'least', 'delivering', 'actlog'] as const;
export type Way = (typeof ways)[number];

/** `true` if a name is one of the ways. */
export function isWay(name: string): name is Way {
  return ways.some((way) => way === name);
}

/** Recorder of one way: our adapter, or a hook of the user; neither for an unmodified agent. */
export interface HookedWay {
  readonly adapter?: Scenario['adapter'];
  readonly ownHook?: (() => void) | undefined;
}

/** Cost of an agent's call, including its framework. */
export interface CallCost {
  /** Median microseconds from one call to the next; occasional work only appears in `cpuMicros`. */
  readonly micros: number;
  /** Mean microseconds of processor time, including delivery and the set-up of agents. */
  readonly cpuMicros: number;
}

/** Turns of the scripted model in one run, with one call each: frameworks end a run that takes many more. */
const turns = 4;

/** Runs between two deliveries. */
const runs = 10;

/** Calls between two deliveries. */
export const callsTogether: number = turns * runs;

/**
 * Returns the hook function of a way; undefined for a way that has none.
 *
 * @param delivery - delivers the events of the way `delivering`
 */
export function ownHookOf(way: Way, delivery?: LeastDelivery): (() => void) | undefined {
  if (way === 'empty') return () => {};
  if (way !== 'least' && way !== 'delivering') return undefined;
  const record = leastRecorder(true, delivery && ((body) => delivery.add(body)));
  return () => record(sessions, { text: 'turn 1' });
}

let sessions = 0;

function scenarioOf(harness: AdapterHarness, way: HookedWay, onCall: () => void): Scenario {
  sessions += 1;
  const { hasOwnHooks } = harness.abilities;
  const { adapter } = way;
  const ownHook = hasOwnHooks ? way.ownHook : undefined;
  // Without user hooks of that kind, the hook is called by the tool itself.
  const inTool = hasOwnHooks ? undefined : way.ownHook;
  return {
    tools: [
      {
        name: 'echo',
        run: async ({ text }) => {
          onCall();
          inTool?.();
          return text;
        },
      },
    ],
    turns: Array.from({ length: turns }, (_, turn) => [
      { toolName: 'echo', arguments: { text: `turn ${turn}` } },
    ]),
    sessionId: `bench-${sessions}`,
    ...(adapter && { adapter }),
    ...(ownHook && { ownHook }),
  };
}

/**
 * Returns the microseconds from each call to the next one of the same run, including the framework. The set-up of an agent
 * does not count: it takes some frameworks longer than all of its calls.
 */
export async function microsOfCalls(harness: AdapterHarness, way: HookedWay): Promise<number[]> {
  const micros: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startsMs: number[] = [];
    const { error } = await harness.run(scenarioOf(harness, way, () => startsMs.push(performance.now())));
    if (error) throw error;
    micros.push(...startsMs.slice(1).map((startMs, call) => (startMs - (startsMs[call] ?? 0)) * 1000));
  }
  return micros;
}
