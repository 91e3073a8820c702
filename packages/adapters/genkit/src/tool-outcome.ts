import type { ToolOutcome } from '@actlog/recorder';

/**
 * The status of what a tool threw: `null` for a tool that interrupted the generation and may run again, the HTTP code
 * of Genkit's own errors, `undefined` where the recorder's own table knows best.
 */
export function toolOutcomeStatus(outcome: ToolOutcome): number | null | undefined {
  if (outcome.ok || !(outcome.error instanceof Error)) return undefined;
  const { name, code, status } = outcome.error as { name?: unknown; code?: unknown; status?: unknown };
  if (name === 'ToolInterruptError') return null;
  // Its `status` is a word, such as INVALID_ARGUMENT, and its `code` the HTTP status of that.
  const isOfGenkit = typeof status === 'string' && typeof code === 'number';
  return isOfGenkit && code >= 400 && code <= 599 ? code : undefined;
}
