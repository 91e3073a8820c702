import type { Reporter } from '../reporter.ts';
import type { Verdict } from './verdict.ts';

/** So many failures in a row are told of: fewer are a hiccup. */
const toldAfter = 5;

/** What keeps an event from the service. */
export type Failure = Exclude<Verdict, { kind: 'delivered' }>;

/** Tells the user of a failure that somebody has to mend, or that lasts. */
export function reportFailure(
  reporter: Reporter,
  verdict: Failure,
  service: { readonly baseURL: string; readonly failuresInARow: number },
): void {
  const { baseURL, failuresInARow } = service;
  if (verdict.kind === 'misconfigured') {
    reporter.failed(
      'misconfigured',
      new Error(
        `The service at ${baseURL} does not take events: ${verdict.reason}. They are kept. Check the API key (it needs the scope "ingest") and that address.`,
      ),
    );
  } else if (verdict.kind === 'outage' && failuresInARow >= toldAfter) {
    reporter.failed(
      'outage',
      new Error(
        `The service at ${baseURL} cannot be reached: ${verdict.reason}. Events are kept and tried again.`,
      ),
    );
  }
}
