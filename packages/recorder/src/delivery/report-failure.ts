import type { Reporter } from '../reporter.ts';
import { longestRetryAfterMs } from './pace.ts';
import type { Verdict } from './verdict.ts';

/** So many failures in a row are told of: fewer are a hiccup. */
const toldAfter = 5;

/** What keeps an event from the service. */
export type Failure = Exclude<Verdict, { kind: 'delivered' }>;

/** Tells the user of a failure that somebody has to mend, or that lasts. */
export function reportFailure(
  reporter: Reporter,
  verdict: Failure,
  service: {
    readonly baseURL: string;
    readonly failuresInARow: number;
    /** What the service asks to wait, where it does. */
    readonly retryAfterMs?: number | undefined;
  },
): void {
  const { baseURL, failuresInARow, retryAfterMs = 0 } = service;
  const isLasting = failuresInARow >= toldAfter;
  if (verdict.kind === 'misconfigured') {
    reporter.failed(
      'misconfigured',
      new Error(
        `The service at ${baseURL} does not take events: ${verdict.reason}. They are kept. Check the API key (it needs the scope "ingest") and that address.`,
      ),
    );
  } else if (verdict.kind === 'outage' && isLasting) {
    reporter.failed(
      'outage',
      new Error(
        `The service at ${baseURL} cannot be reached: ${verdict.reason}. Events are kept and tried again.`,
      ),
    );
  } else if (verdict.kind === 'fault' && isLasting) {
    reporter.failed(
      'fault',
      new Error(
        `The service at ${baseURL} fails at events: ${verdict.reason}. They are kept and tried again.`,
      ),
    );
  } else if (
    verdict.kind === 'no-room' ||
    (verdict.kind === 'throttled' && (isLasting || retryAfterMs > longestRetryAfterMs))
  ) {
    // A rate passes by itself; a quota that is used up may not until somebody raises it.
    reporter.failed(
      'throttled',
      new Error(
        `The service at ${baseURL} takes no events for now: ${verdict.reason}. Events are kept and tried again.`,
      ),
    );
  }
}
