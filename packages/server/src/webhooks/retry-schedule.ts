const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays between attempts, in milliseconds (Standard Webhooks, "Retry schedule"). The first attempt is immediate. */
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

/** Longest delay that a receiver may request, in milliseconds. */
const maxDelayMs = 24 * hour;

/**
 * Returns the delay after `attempts` failed attempts, in milliseconds, or `undefined` when no attempts are left. Up to
 * 10% of random jitter spreads the messages of an outage.
 */
export function retryDelayMs(attempts: number, retryAfterMs = 0): number | undefined {
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const jitteredMs = Math.round(delayMs * (1 + Math.random() * 0.1));
  return Math.max(jitteredMs, Math.min(retryAfterMs, maxDelayMs));
}

/**
 * Returns the delay that `Retry-After` requests in seconds or as a date (RFC 9110, section 10.2.3), in milliseconds.
 */
export function requestedDelayMs(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const timeMs = retryAfter.endsWith(' GMT') ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(timeMs) ? 0 : Math.max(0, timeMs - nowMs);
}
