import { maxDays } from '../storage/retention/retention.ts';

const dayMs = 24 * 3_600_000;

/** Maximum days for which a replaced key, or a replaced secret of a webhook, remains valid. */
export const maxOverlapDays = 7;

/**
 * Returns the expiry of a key created now, in Unix milliseconds; `null` for never.
 *
 * @throws RangeError unless `days` is more than 0 and at most 100 years.
 */
export function keyEndMs(days: number | undefined): number | null {
  if (days === undefined) return null;
  if (days > 0 && days <= maxDays) return Date.now() + wholeMs(days);
  throw new RangeError(`A key must expire in more than 0 and at most ${maxDays} days, not ${days}.`);
}

/**
 * Returns the end of an overlap that starts now, in Unix milliseconds.
 *
 * @throws RangeError unless `days` is from 0 to 7.
 */
export function overlapEndMs(days: number): number {
  if (days >= 0 && days <= maxOverlapDays) return Date.now() + wholeMs(days);
  throw new RangeError(`The overlap must be 0 to ${maxOverlapDays} days, not ${days}.`);
}

/** Converts days to whole milliseconds, because PostgreSQL stores times as integers. */
function wholeMs(days: number): number {
  return Math.ceil(days * dayMs);
}
