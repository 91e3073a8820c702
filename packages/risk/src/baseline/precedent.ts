import { type Expectation, FULL_CONFIDENCE_SESSIONS } from './expectation.ts';

/**
 * Returns how far past sessions took the same actions as this one, with the same tools and as often: from 0 (none of
 * them) to 1 (all, with at least three past sessions).
 *
 * Of the near sessions sorted by similarity, the one at the end of the first third decides. Of three sessions that is
 * the best; of five the second best, so that a single planted session is no precedent.
 *
 * @param acts Hash and number of calls of each tool that the session acts with.
 * @param total Number of all actions of the session. Actions that are not in `acts` have no precedent.
 */
export function precedentFor(
  { near }: Expectation,
  acts: readonly (readonly [tool: number, calls: number])[],
  total: number,
): number {
  if (total === 0) return 0;
  const shares = near.map((past) => {
    let shared = 0;
    for (const [tool, calls] of acts) shared += Math.min(calls, past.tools.get(tool) ?? 0);
    return shared / total;
  });
  const deciding = shares.sort((a, b) => b - a)[Math.ceil(shares.length / 3) - 1] as number;
  return deciding * Math.min(1, near.length / FULL_CONFIDENCE_SESSIONS);
}
