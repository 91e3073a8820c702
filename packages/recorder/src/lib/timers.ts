import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

/** Returns monotonic milliseconds. */
const now = () => performance.now();

/**
 * Timers and clock of Node, saved before a test can fake them. Fake timers would stop delivery, and permanently if the
 * test restores the real ones before a fake timer has fired.
 */
export const timers = { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout };

/** State of a recorder's events. All fields except `spooled` add up to the recorded and adopted events. */
export interface FlushResult {
  /** Events delivered since the recorder was created. */
  readonly delivered: number;
  /** Events not delivered yet. */
  readonly pending: number;
  /** Pending events that are on disk and survive the end of the process. */
  readonly spooled: number;
  /** Events lost since the recorder was created. */
  readonly dropped: number;
  /** Events that the service rejected permanently since the recorder was created. */
  readonly deadLettered: number;
}

/** Options of a wait. */
export interface WaitOptions {
  /** Maximum time to wait, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}
