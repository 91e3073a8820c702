import { type Expectation, FULL_CONFIDENCE_SESSIONS } from './expectation.ts';

/**
 * How far past sessions took the same actions as this one, by the same tools and as often: from 0 (none of them) to 1
 * (all, and three past sessions or more are known).
 *
 * Of the near sessions the one at the end of the first third decides, best first. Of three that is the best; of five
 * the second, so that there one session alone, which somebody may have planted, is no precedent.
 *
 * @param acts Hash and number of calls of each tool by which the session acts.
 * @param total How often the session acted in all. Actions that `acts` does not hold have no precedent.
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
