import { timers } from '../lib/timers.ts';

/** Interval of the checks in milliseconds. Timers are always slightly late, which is not a stall. */
const minIntervalMs = 20;
const maxIntervalMs = 1000;

/**
 * Detects stalls of the event loop, for example by a blocking tool or a sleeping machine. Responses that arrive
 * meanwhile are noticed too late, after the timeout.
 *
 * @param timeMs - time limit of the operation that is being awaited
 * @returns a function that stops watching and returns `true` if the event loop was stalled for half of that time or
 * more
 */
export function watchEventLoopStall(timeMs: number): () => boolean {
  const intervalMs = Math.min(Math.max(timeMs / 10, minIntervalMs), maxIntervalMs);
  let checkedAtMs = timers.now();
  let stalledMs = 0;
  const check = () => {
    const nowMs = timers.now();
    stalledMs += Math.max(0, nowMs - checkedAtMs - intervalMs);
    checkedAtMs = nowMs;
  };
  const timer = timers.setInterval(check, intervalMs).unref();
  return () => {
    timers.clearInterval(timer);
    check();
    return stalledMs >= timeMs / 2;
  };
}
