import type { RiskLevel } from './risk-score.ts';

/** Smallest scores of the levels above `low`. */
export interface LevelLimits {
  readonly medium: number;
  readonly high: number;
  readonly critical: number;
}

/**
 * Where the levels begin: quantiles of the scores of benign sessions. `cold` holds for sessions of which no past was
 * known, `warm` for all others.
 *
 * Provenance: the 1033 benign runs of AgentDojo's suites workspace and slack (models of OpenAI, Google and Cohere;
 * MIT licence), scored at these weights: `benignQuantiles` of `npm run bench -- risk --warmup 0` and `--warmup 3`.
 * - `medium`: 80 in 100 benign sessions score below it.
 * - `high`: above all of them (cold), and above at least 98 in 100 (warm; it is above 99). Not 95: what scores `high`
 *   is not learned and calls people, and other work than that of these suites acts more. One limit for both: of two
 *   sessions with the same signs, the one whose past was known must not be the first to be reported.
 * - `critical`: above all of them (warm).
 */
export const LEVEL_LIMITS: { readonly cold: LevelLimits; readonly warm: LevelLimits } = {
  cold: { medium: 67, high: 91, critical: 95 },
  warm: { medium: 47, high: 91, critical: 95 },
};

/**
 * The level of a score. `critical` needs two independent rules, or one that proves the matter: one sign, however
 * strong, is `high`.
 */
export function levelOf(score: number, limits: LevelLimits, proven: boolean): RiskLevel {
  if (score >= limits.critical && proven) return 'critical';
  if (score >= limits.high) return 'high';
  return score >= limits.medium ? 'medium' : 'low';
}
