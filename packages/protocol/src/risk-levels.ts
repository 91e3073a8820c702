/** Lowest scores of the levels above `low`. They are the same with a known history and without. */
export const riskLevels = { medium: 40, high: 70, critical: 90 } as const;

/**
 * Returns a score as a whole number for people, rounded down: rounded up it could seem to reach the next level, and a
 * filter for the shown value would not find it.
 */
export function wholeScore(score: number): number {
  return Math.floor(score);
}
