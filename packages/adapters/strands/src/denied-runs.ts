import type { ActionDeniedError } from '@actlog/recorder';
import { DeniedRun, type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';
import { agentsAround } from './coverage.ts';

/** Current runs of agents that have denials. */
const runs = processWide('@actlog/strands/denied-runs', () => new WeakMap<LocalAgent, DeniedRun>());

/**
 * Counts a denial in the agent's current run, which ends before the next model call if the model repeats itself. The end
 * of a run is a denial for the agent whose tool runs it: its model might start that agent again and again.
 */
export function noteDenial(agent: LocalAgent, call: HookedCall, denial: ActionDeniedError): void {
  for (const one of [agent, ...agentsAround()]) {
    const run = runs().get(one) ?? new DeniedRun();
    runs().set(one, run);
    if (!run.deny(call, denial)) return;
  }
}

/** Notes that a call of an agent was allowed. */
export function noteLetThrough(agent: LocalAgent, toolName: string): void {
  runs().get(agent)?.letThrough(toolName);
}

/** Forgets the denials of an agent's earlier run. */
export function beginRun(agent: LocalAgent): void {
  runs().delete(agent);
}

/** Returns the reason why the agent's current run must end; undefined while it continues. */
export function endOfRun(agent: LocalAgent): string | undefined {
  return runs().get(agent)?.reason;
}
