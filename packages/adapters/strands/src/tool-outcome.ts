import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { ToolResultBlock } from '@strands-agents/sdk';

/** How a call ended, by the result that Strands made of it: most tools put what they throw into one. */
export function outcomeOf(result: ToolResultBlock | undefined): ToolOutcome {
  const error = result?.status === 'error' ? result.error : undefined;
  return error === undefined ? { ok: true, result } : { ok: false, error };
}

/**
 * The status of what Strands made of a call: `null` for a tool that interrupted the agent and will run again,
 * `undefined` where the recorder's own table knows best.
 */
export function toolOutcomeStatus(outcome: ToolOutcome): number | null | undefined {
  if (!outcome.ok) return (outcome.error as Error | undefined)?.name === 'InterruptError' ? null : undefined;
  return isErrorResult(outcome.result) ? responseStatuses.threw : undefined;
}

function isErrorResult(result: unknown): boolean {
  const { type, status } = (result ?? {}) as { type?: unknown; status?: unknown };
  return type === 'toolResultBlock' && status === 'error';
}
