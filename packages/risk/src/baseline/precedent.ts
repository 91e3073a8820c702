import { type Expectation, fullConfidenceSessions } from './expectation.ts';

/**
 * Returns how far past sessions took the same actions as this one, with the same tools and as often: from 0 (one of them
 * never) to 1 (all, with at least three past sessions). The action with the least precedent decides, so that usual
 * actions around an unusual one do not excuse it.
 *
 * Of the near sessions sorted by similarity, the one at the end of the first third decides. Of three sessions that is
 * the best; of five the second best, so that a single planted session is no precedent.
 *
 * @param acts - hash and number of calls of each tool that the session acts with
 */
export function precedentFor(
  { near }: Expectation,
  acts: readonly (readonly [tool: number, calls: number])[],
): number {
  if (acts.length === 0) return 0;
  const shares = near.map((past) => {
    let least = 1;
    for (const [tool, calls] of acts) least = Math.min(least, (past.tools.get(tool) ?? 0) / calls);
    return least;
  });
  const deciding = shares.sort((a, b) => b - a)[Math.ceil(shares.length / 3) - 1] as number;
  return deciding * Math.min(1, near.length / fullConfidenceSessions);
}
