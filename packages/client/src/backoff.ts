/** The first retry waits up to this long. */
const firstDelayMs = 500;

/** No retry waits longer than this, unless the service asks for it. */
const longestDelayMs = 8_000;

/**
 * Exponential backoff with full jitter: a random time from 0 up to a bound that doubles with every retry. Full jitter
 * spreads many clients that failed together best, which is when it matters.
 *
 * @param retry 1 for the first retry.
 * @param random From 0 up to, not including, 1.
 */
export function backoffMs(retry: number, random: number): number {
  return Math.floor(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (retry - 1)));
}
