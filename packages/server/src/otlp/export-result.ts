import { warningView } from '@actlog/policy';
import type { WarningCode } from '@actlog/protocol';
import type { Encoding } from './encoding.ts';
import { exportResponse } from './messages.ts';

/** Outcome of a request whose other spans were recorded or ignored. */
export interface ExportResult {
  /** Number of tool spans that cannot be recorded, by the reason. */
  readonly rejected: ReadonlyMap<string, number>;
  /** Number of events by warning. */
  readonly warnings: ReadonlyMap<WarningCode, number>;
}

/**
 * Renders the `ExportTraceServiceResponse`. Its `partialSuccess` says which spans were not recorded, and has the
 * warnings of the events; it is omitted if there are neither (OTLP specification, "Partial Success").
 */
export function renderResult(encoding: Encoding, { rejected, warnings }: ExportResult): Buffer {
  const problems = [...rejected].map(
    ([reason, count]) => `Tool spans not recorded: ${count}, because ${reason}.`,
  );
  const notes = [...warnings].map(
    ([code, count]) => `Warning ${code} for ${count} of the events: ${warningView(code).message}`,
  );
  const errorMessage = [...problems, ...notes].join(' ');
  const rejectedSpans = rejected.values().reduce((sum, count) => sum + count, 0);
  if (encoding === 'json') {
    // In JSON, 64-bit integers are strings.
    const partialSuccess = { rejectedSpans: String(rejectedSpans), errorMessage };
    return Buffer.from(JSON.stringify(errorMessage === '' ? {} : { partialSuccess }));
  }
  const message = errorMessage === '' ? {} : { partialSuccess: { rejectedSpans, errorMessage } };
  return Buffer.from(exportResponse.encode(message).finish());
}
