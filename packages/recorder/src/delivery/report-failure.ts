import type { Reporter } from '../reporting/reporter.ts';
import { maxRetryAfterMs } from './pace.ts';
import type { Verdict } from './verdict.ts';

/** Number of consecutive failures that are reported; fewer are ignored as transient. */
const reportAfter = 5;

/** Reasons why an event did not reach the service. */
export type Failure = Exclude<Verdict, { kind: 'delivered' }>;

/** Reports a failure that requires action or that persists. */
export function reportFailure(
  reporter: Reporter,
  verdict: Failure,
  service: {
    readonly baseURL: string;
    readonly failuresInARow: number;
    /** Delay requested by the service, if any. */
    readonly retryAfterMs?: number | undefined;
  },
): void {
  const { baseURL, failuresInARow, retryAfterMs = 0 } = service;
  const isLasting = failuresInARow >= reportAfter;
  if (verdict.kind === 'misconfigured') {
    reporter.failed(
      'misconfigured',
      new Error(
        `The service at ${baseURL} rejects events: ${verdict.reason}. They are kept. Check the API key (it needs the scope "ingest") and the address.`,
      ),
    );
  } else if (verdict.kind === 'outage' && isLasting) {
    reporter.failed(
      'outage',
      new Error(
        `The service at ${baseURL} cannot be reached: ${verdict.reason}. Events are kept and retried.`,
      ),
    );
  } else if (verdict.kind === 'fault' && isLasting) {
    reporter.failed(
      'fault',
      new Error(`The service at ${baseURL} fails on events: ${verdict.reason}. They are kept and retried.`),
    );
  } else if (
    verdict.kind === 'no-room' ||
    (verdict.kind === 'throttled' && (isLasting || retryAfterMs > maxRetryAfterMs))
  ) {
    // A rate limit passes by itself; an exhausted quota may need to be raised.
    reporter.failed(
      'throttled',
      new Error(
        `The service at ${baseURL} accepts no events for now: ${verdict.reason}. Events are kept and retried.`,
      ),
    );
  }
}
