/** Upper bound of the first delay, in milliseconds. */
const firstDelayMs = 500;

/** Upper bound of every delay, in milliseconds, unless the service asks for more. */
const longestDelayMs = 8_000;

/**
 * Returns a delay by exponential backoff with full jitter: a random time between 0 and a bound that doubles with every
 * retry. Full jitter spreads the retries of many clients that failed at the same moment.
 *
 * @param retry 1 for the first retry.
 * @param random Number from 0 (inclusive) to 1 (exclusive).
 */
export function backoffMs(retry: number, random: number): number {
  return Math.floor(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (retry - 1)));
}
