import type { ActionDeniedError } from '@actlog/recorder';
import { endOfRunReason, type HookedCall, processWide, RunDenials } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';
import { agentsAround } from './coverage.ts';

/** Denials of an agent's current run. */
interface DeniedRun {
  readonly denials: RunDenials;
  /** Final message of the run; undefined while it continues. */
  reason: string | undefined;
}

const runs = processWide('@actlog/strands/denied-runs', () => new WeakMap<LocalAgent, DeniedRun>());

/**
 * Counts a denial in the agent's current run, which ends before the next model call if the model repeats itself. The end
 * of a run is a denial for the agent whose tool runs it: its model might start that agent again and again.
 */
export function noteDenial(agent: LocalAgent, call: HookedCall, denial: ActionDeniedError): void {
  if (!countDenial(agent, call, denial)) return;
  for (const outer of agentsAround()) if (!countDenial(outer, call, denial)) return;
}

/** Returns `true` if the denial ends the agent's run. */
function countDenial(agent: LocalAgent, call: HookedCall, denial: ActionDeniedError): boolean {
  const run = runs().get(agent) ?? { denials: new RunDenials(), reason: undefined };
  runs().set(agent, run);
  if (!run.denials.count(call) || run.reason !== undefined) return false;
  run.reason = endOfRunReason(denial);
  return true;
}

/** Notes that a call of an agent was allowed. */
export function noteLetThrough(agent: LocalAgent, toolName: string): void {
  runs().get(agent)?.denials.letThrough(toolName);
}

/** Forgets the denials of an agent's earlier run. */
export function beginRun(agent: LocalAgent): void {
  runs().delete(agent);
}

/** Returns the reason why the agent's current run must end; undefined while it continues. */
export function endOfRun(agent: LocalAgent): string | undefined {
  return runs().get(agent)?.reason;
}
