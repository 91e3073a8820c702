import type { ToolOutcome } from '@actlog/recorder';

/**
 * Returns the status of a tool's error: `null` for a tool that interrupted the generation and may run again, the HTTP
 * code of Genkit's own errors, or `undefined` for the recorder's own table.
 */
export function toolOutcomeStatus(outcome: ToolOutcome): number | null | undefined {
  if (outcome.ok || !(outcome.error instanceof Error)) return undefined;
  const { name, code, status } = outcome.error as { name?: unknown; code?: unknown; status?: unknown };
  if (name === 'ToolInterruptError') return null;
  // Their `status` is a name, such as INVALID_ARGUMENT, and `code` its HTTP status.
  const isOfGenkit = typeof status === 'string' && typeof code === 'number';
  return isOfGenkit && code >= 400 && code <= 599 ? code : undefined;
}
