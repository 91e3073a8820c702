import { warningView } from '@actlog/policy';
import type { WarningCode } from '@actlog/protocol';
import { recordedReasons, type UnreadSpans, unreadReasons } from '../observability/unread-spans.ts';
import type { Encoding } from './encoding.ts';
import { exportResponse } from './messages.ts';

/** Outcome of a request whose other spans were recorded or ignored. */
export interface ExportResult {
  /** Tool spans that are not, or not wholly, understood. */
  readonly unread: readonly UnreadSpans[];
  /** Number of events by warning. */
  readonly warnings: ReadonlyMap<WarningCode, number>;
}

/** Warnings that an exporter should not report again and again: every agent begins so. */
const silentWarnings: readonly WarningCode[] = ['AGENT_NOT_REGISTERED'];

/** Maximum number of scopes and reasons in a message. */
const maxProblems = 20;

/**
 * Renders the `ExportTraceServiceResponse`. Its `partialSuccess` says which spans were not understood, and has the
 * warnings of the events; it is omitted if there are neither (OTLP specification, "Partial Success").
 */
export function renderResult(encoding: Encoding, { unread, warnings }: ExportResult): Buffer {
  const problems = unread.slice(0, maxProblems).map(problemText);
  const notes = [...warnings]
    .filter(([code]) => !silentWarnings.includes(code))
    .map(([code, count]) => `Warning ${code} for ${count} of the events: ${warningView(code).message}`);
  const errorMessage = [...problems, ...notes].join(' ');
  const rejectedSpans = unread
    .filter(({ reason }) => !recordedReasons.has(reason))
    .reduce((sum, { count }) => sum + count, 0);
  if (encoding === 'json') {
    // In JSON, 64-bit integers are strings.
    const partialSuccess = { rejectedSpans: String(rejectedSpans), errorMessage };
    return Buffer.from(JSON.stringify(errorMessage === '' ? {} : { partialSuccess }));
  }
  const message = errorMessage === '' ? {} : { partialSuccess: { rejectedSpans, errorMessage } };
  return Buffer.from(exportResponse.encode(message).finish());
}

function problemText({ scope, reason, count }: UnreadSpans): string {
  const problem = recordedReasons.has(reason) ? 'recorded without a hash of the arguments' : 'not recorded';
  return `Tool spans of ${scope} ${problem}: ${count}, because ${unreadReasons[reason]}.`;
}
