import type { RiskLevel } from './risk-score.ts';

/** Lowest scores of the levels above `low`, with a history or without, with origins of arguments or without. */
export const levels = { medium: 40, high: 70, critical: 90 } as const;

/** Amounts of evidence, which is a negative logarithm; see `composition.ts`. */
export interface EvidenceLimits {
  readonly medium: number;
  readonly high: number;
  readonly critical: number;
}

/**
 * Evidence at which the levels begin. It is the same with a known history and without, and with origins of arguments and
 * without, so that no report of origins lowers a score.
 *
 * Provenance: benign runs of three kinds of work, scored at these weights (`npm run bench -- risk`): office work (1033 runs
 * of AgentDojo's suites workspace and slack), service desk (182 runs of tau-bench, airline) and coding (448 runs of
 * SWE-agent). Of each kind, at most one run in five reaches `medium`, and about one in a hundred or fewer `high`.
 */
export const evidenceLimits: EvidenceLimits = { medium: 1.7, high: 3.5, critical: 4.6 };

/** Score below `critical` that a session without proof reaches at most. */
const mostWithoutProof = 89.99;

/**
 * Returns the score of an amount of evidence, 0 to 100: it grows evenly from level to level.
 *
 * @param isProven - `true` if two independent rules matched, or one that is conclusive. Any other single signal, however
 * strong, stays below `critical`.
 */
export function scoreOf(evidence: number, isProven: boolean): number {
  const { medium, high, critical } = evidenceLimits;
  const between = (from: number, to: number, low: number, top: number) =>
    low + ((evidence - from) / (to - from)) * (top - low);
  if (evidence < medium) return between(0, medium, 0, levels.medium);
  if (evidence < high) return between(medium, high, levels.medium, levels.high);
  const score =
    evidence < critical
      ? between(high, critical, levels.high, levels.critical)
      : 100 - (100 - levels.critical) * Math.exp(critical - evidence);
  return isProven ? score : Math.min(score, mostWithoutProof);
}

/**
 * Rounds a score down to two decimals, so that it is the same on every machine and never reaches a level that the exact
 * one does not.
 */
export function rounded(score: number): number {
  return Math.floor(score * 100 + 1e-6) / 100;
}

/** Returns the level of a score. */
export function levelOf(score: number): RiskLevel {
  if (score >= levels.critical) return 'critical';
  if (score >= levels.high) return 'high';
  return score >= levels.medium ? 'medium' : 'low';
}
