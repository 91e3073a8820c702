import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { HookedCall } from '@actlog/recorder/adapter';
import { awaitsInput, runsOfCalls, thrownErrors } from './tool-run.ts';

/** Unwraps the error thrown by a tool's function from ADK's error. */
export function thrownByTool(error: unknown): unknown {
  return typeof error === 'object' && error !== null && thrownErrors().has(error)
    ? thrownErrors().get(error)
    : error;
}

/**
 * Returns the status of ADK's outcome of a call: `null` for a tool that waits for a person and will run again, or
 * `undefined` for the recorder's own table.
 */
export function toolOutcomeStatus(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  const run = runsOfCalls().get(call);
  if (!run) return undefined;
  // A node returns a value in the end; undefined means that it requests input and will run again.
  if (outcome.ok && (awaitsInput(run) || (run.isNode && outcome.result === undefined))) return null;
  if (!run.isFunction || run.hasReachedFunction) return undefined;
  // If its function was not called, the tool failed on its arguments, or a person declined the confirmation.
  if (!outcome.ok) return call.signal?.aborted ? undefined : responseStatuses.invalidArguments;
  return run.context.toolConfirmation?.confirmed === false ? responseStatuses.denied : undefined;
}
