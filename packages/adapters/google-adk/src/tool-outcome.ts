import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { HookedCall } from '@actlog/recorder/adapter';
import { awaitsAnswer, runsOfCalls, thrownErrors } from './tool-run.ts';

/** What the function of a tool threw, out of the error that ADK makes of it. */
export function thrownByTool(error: unknown): unknown {
  return typeof error === 'object' && error !== null && thrownErrors().has(error)
    ? thrownErrors().get(error)
    : error;
}

/**
 * The status of what ADK made of a call: `null` for a tool that waits for a person and will run again, `undefined`
 * where the recorder's own table knows best.
 */
export function toolOutcomeStatus(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  const run = runsOfCalls().get(call);
  if (!run) return undefined;
  // A node answers something in the end; nothing, where it asks for input and will be run again with that.
  if (outcome.ok && (awaitsAnswer(run) || (run.isNode && outcome.result === undefined))) return null;
  if (!run.isFunction || run.hasReachedFunction) return undefined;
  // Without its function, a tool fails for its arguments, and answers for the person who said no.
  if (!outcome.ok) return call.signal?.aborted ? undefined : responseStatuses.invalidArguments;
  return run.context.toolConfirmation?.confirmed === false ? responseStatuses.denied : undefined;
}
