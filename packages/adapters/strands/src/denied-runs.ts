import type { ActionDeniedError } from '@actlog/recorder';
import { endOfRunReason, type HookedCall, processWide, RunDenials } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';

/** Denials of an agent's current run. */
interface DeniedRun {
  readonly denials: RunDenials;
  /** Final message of the run; undefined while it continues. */
  reason: string | undefined;
}

const runs = processWide('@actlog/strands/denied-runs', () => new WeakMap<LocalAgent, DeniedRun>());

/** Counts a denial in the agent's current run, which ends before the next model call if the model repeats itself. */
export function noteDenial(agent: LocalAgent, call: HookedCall, denial: ActionDeniedError): void {
  const run = runs().get(agent) ?? { denials: new RunDenials(), reason: undefined };
  runs().set(agent, run);
  if (run.denials.count(call)) run.reason = endOfRunReason(denial);
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
