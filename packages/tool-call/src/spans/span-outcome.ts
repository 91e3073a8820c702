import { defaultResponseStatus, type ToolOutcome } from '../outcome/response-status.ts';
import type { ToolSpan } from './dialect.ts';
import { type GenAiSpan, jsonOf } from './genai-span.ts';
import { failureOf, isInterruption, statusOfAbort } from './span-failure.ts';

/** Returns the outcome of a tool call from its span; a result that is JSON is parsed. */
export function spanOutcome(span: GenAiSpan, { errorName, result }: ToolSpan): ToolOutcome {
  const stated = errorName === undefined ? undefined : missingError(errorName);
  // A framework that says so knows better than the status that it gives to every span without a result.
  const error = errorName === 'CancelledError' ? stated : (failureOf(span) ?? stated);
  return error ? { ok: false, error } : { ok: true, result: jsonOf(result) ?? result };
}

/** Returns the `responseStatus` of a tool call from its outcome; `null` if the call waits and will run again. */
export function spanStatus(outcome: ToolOutcome): number | null {
  return !outcome.ok && isInterruption(outcome.error) ? null : defaultResponseStatus(outcome);
}

function missingError(name: string): Error {
  const status = statusOfAbort(name);
  return Object.assign(new Error('The span contains no outcome.'), { name, ...(status && { status }) });
}
