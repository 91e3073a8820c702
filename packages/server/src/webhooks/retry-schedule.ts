const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds from one try to the next (Standard Webhooks, "Retry schedule"); the first try is made at once. */
const delaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

/** The most that a receiver may ask to wait. */
const longestDelayMs = 24 * hour;

/**
 * Milliseconds to wait after `attempts` failed tries, or undefined when there are no more. Up to a tenth is added
 * at random, so that the messages of an outage do not all come back at once.
 */
export function retryDelayMs(attempts: number, retryAfterMs = 0): number | undefined {
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const jitteredMs = Math.round(delayMs * (1 + Math.random() * 0.1));
  return Math.max(jitteredMs, Math.min(retryAfterMs, longestDelayMs));
}

/** What a receiver asks for by `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3); 0 when nothing. */
export function requestedDelayMs(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const timeMs = retryAfter.endsWith(' GMT') ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(timeMs) ? 0 : Math.max(0, timeMs - nowMs);
}
