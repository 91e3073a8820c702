import type { ActionDeniedError } from '@actlog/recorder';
import { endOfRunReason, type HookedCall, processWide, RunDenials } from '@actlog/recorder/adapter';
import type { InvocationContext } from '@google/adk';
import { surroundingRuns } from './coverage.ts';

/** Denials of one invocation, across all of its agents. */
interface DeniedRun {
  readonly invocationId: string;
  readonly denials: RunDenials;
  /** Final message of the run; undefined while it continues. */
  reason: string | undefined;
}

/** Latest run with a denial of each session. */
const runs = processWide('@actlog/google-adk/denied-runs', () => new WeakMap<object, DeniedRun>());

function runOf({ session, invocationId }: InvocationContext): DeniedRun | undefined {
  const run = runs().get(session);
  return run?.invocationId === invocationId ? run : undefined;
}

/**
 * Counts a denial in its invocation, which ends before the next model call if the model repeats itself. The end of an
 * invocation is a denial for the one whose tool runs it: its model might start that agent again and again.
 */
export function noteDenial(context: InvocationContext, call: HookedCall, denial: ActionDeniedError): void {
  if (!countDenial(context, call, denial)) return;
  for (const outer of surroundingRuns())
    if (outer.context && !countDenial(outer.context, call, denial)) return;
}

/** Returns `true` if the denial ends the invocation. */
function countDenial(context: InvocationContext, call: HookedCall, denial: ActionDeniedError): boolean {
  const { session, invocationId } = context;
  const run = runOf(context) ?? { invocationId, denials: new RunDenials(), reason: undefined };
  runs().set(session, run);
  if (!run.denials.count(call) || run.reason !== undefined) return false;
  run.reason = endOfRunReason(denial);
  return true;
}

/** Notes that a call was allowed in its invocation. */
export function noteLetThrough(context: InvocationContext, toolName: string): void {
  runOf(context)?.denials.letThrough(toolName);
}

/** Returns the reason why an invocation must end; undefined while it continues. */
export function endOfRun(context: InvocationContext): string | undefined {
  return runOf(context)?.reason;
}
