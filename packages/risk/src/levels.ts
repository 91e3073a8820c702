import type { RiskLevel } from './risk-score.ts';

/** Lowest scores of the levels above `low`. */
export interface LevelLimits {
  readonly medium: number;
  readonly high: number;
  readonly critical: number;
}

/**
 * Limits of the levels: quantiles of the scores of benign sessions. `cold` applies to sessions without a known history,
 * `warm` to all others.
 *
 * Provenance: the 1033 benign runs of AgentDojo's suites workspace and slack (models of OpenAI, Google and Cohere;
 * MIT license), scored at these weights: `benignQuantiles` of `npm run bench -- risk --warmup 0` and `--warmup 3`.
 * - `medium`: 80% of the benign sessions score below it.
 * - `high`: above all of them (cold), and above at least 98% (warm; it is above 99%). A 95% limit would be too low: a
 *   session that scores `high` is not learned and alerts people, and other workloads act more than these suites. Both
 *   limits are the same: of two sessions with the same signals, the one with a known history must not be
 * reported first.
 * - `critical`: above all of them (warm).
 *
 * The limits `WithOrigins` apply where the recorder reports the origins of arguments, which more rules then use. They
 * come from the same runs with their texts, by the same command. `high` is above 98.7% of the benign sessions, with a
 * history and without: some users ask an agent to do what a text says, and then only they know that it is their wish.
 */
export const LEVEL_LIMITS: {
  readonly cold: LevelLimits;
  readonly warm: LevelLimits;
  readonly coldWithOrigins: LevelLimits;
  readonly warmWithOrigins: LevelLimits;
} = {
  cold: { medium: 67, high: 91, critical: 95 },
  warm: { medium: 47, high: 91, critical: 95 },
  coldWithOrigins: { medium: 69, high: 97, critical: 98.5 },
  warmWithOrigins: { medium: 50, high: 97, critical: 98.5 },
};

/**
 * Returns the limits for a session.
 *
 * @param isCold - `true` without a known history
 * @param hasOrigins - `true` if the origins of arguments were reported
 */
export function limitsFor(isCold: boolean, hasOrigins: boolean): LevelLimits {
  const { cold, warm, coldWithOrigins, warmWithOrigins } = LEVEL_LIMITS;
  if (hasOrigins) return isCold ? coldWithOrigins : warmWithOrigins;
  return isCold ? cold : warm;
}

/**
 * Returns the level of a score. `critical` needs two independent rules or one deterministic rule; any other single
 * signal, however strong, is `high`.
 */
export function levelOf(score: number, limits: LevelLimits, proven: boolean): RiskLevel {
  if (score >= limits.critical && proven) return 'critical';
  if (score >= limits.high) return 'high';
  return score >= limits.medium ? 'medium' : 'low';
}
