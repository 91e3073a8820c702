import type { ActionDeniedError } from '@actlog/recorder';
import { DeniedRun, type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { InvocationContext } from '@google/adk';
import { invocationsAround } from './coverage.ts';

/** An invocation with denials, of all its agents. */
interface Invocation {
  readonly id: string;
  readonly run: DeniedRun;
}

/** Latest invocation with a denial of each session. */
const invocations = processWide('@actlog/google-adk/denied-runs', () => new WeakMap<object, Invocation>());

function runOf({ session, invocationId }: InvocationContext): DeniedRun | undefined {
  const invocation = invocations().get(session);
  return invocation?.id === invocationId ? invocation.run : undefined;
}

/**
 * Counts a denial in its invocation, which ends before the next model call if the model repeats itself. The end of an
 * invocation is a denial for the one whose tool runs it: its model might start that agent again and again.
 */
export function noteDenial(context: InvocationContext, call: HookedCall, denial: ActionDeniedError): void {
  for (const one of [context, ...invocationsAround()]) {
    const run = runOf(one) ?? new DeniedRun();
    invocations().set(one.session, { id: one.invocationId, run });
    if (!run.deny(call, denial)) return;
  }
}

/** Notes that a call was allowed in its invocation. */
export function noteLetThrough(context: InvocationContext, toolName: string): void {
  runOf(context)?.letThrough(toolName);
}

/** Returns the reason why an invocation must end; undefined while it continues. */
export function endOfRun(context: InvocationContext): string | undefined {
  return runOf(context)?.reason;
}
