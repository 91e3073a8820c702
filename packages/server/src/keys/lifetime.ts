const dayMs = 24 * 3_600_000;

/** The longest time that can be asked for, in days: a hundred years. */
export const centuryDays = 36_500;

/** Days that a replaced key, or a webhook's replaced secret, may still be used at most. */
export const longestOverlapDays = 7;

/**
 * When a key ends that is made now, in milliseconds since the epoch; null for never.
 *
 * @throws RangeError for days that are not more than 0, or beyond a hundred years.
 */
export function keyEndMs(days: number | undefined): number | null {
  if (days === undefined) return null;
  if (days > 0 && days <= centuryDays) return Date.now() + wholeMs(days);
  throw new RangeError(`A key must end in more than 0 and at most ${centuryDays} days, not ${days}.`);
}

/**
 * When that ends which is replaced now, in milliseconds since the epoch.
 *
 * @throws RangeError for days that are none of 0 to 7.
 */
export function overlapEndMs(days: number): number {
  if (days >= 0 && days <= longestOverlapDays) return Date.now() + wholeMs(days);
  throw new RangeError(`The overlap must be 0 to ${longestOverlapDays} days, not ${days}.`);
}

/** PostgreSQL keeps times as whole numbers, and takes no others. */
function wholeMs(days: number): number {
  return Math.ceil(days * dayMs);
}
