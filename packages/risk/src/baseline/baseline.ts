import { hash32 } from '../codec/hash32.ts';
import type { RiskScore } from '../risk-score.ts';
import { BottomK } from '../session/bottom-k.ts';
import type { SessionState } from '../session/session-state.ts';
import { type PastSession, pastSession } from './past-session.ts';

/** How many sessions a baseline keeps. */
export const KEPT_SESSIONS = 16;

/**
 * What an agent, or one workflow of it, usually does: a sample of its past sessions. Which sessions are in the sample
 * depends on the set of learned sessions alone (those that a person confirmed, then those whose ids have the smallest
 * hashes), so it is the same for any order of learning, and whoever floods it gets no more than his share.
 */
export interface Baseline {
  readonly sessions: BottomK<{ past: PastSession }>;
}

/** A baseline that has learned nothing. */
export function emptyBaseline(): Baseline {
  return { sessions: new BottomK(KEPT_SESSIONS) };
}

/** Where the places of sessions begin that were learned by themselves: behind those that a person confirmed. */
const UNCONFIRMED = 2 ** 31;

/** 16-bit hash by which a baseline remembers a rule. */
export function ruleHash(ruleId: string): number {
  return hash32(ruleId) & 0xffff;
}

/** A session has one place, also where it went on after it was learned: the one that it has already. */
function placeOf({ sessions }: Baseline, session: number, isConfirmed: boolean): number {
  const confirmed = session >>> 1;
  const unconfirmed = confirmed + UNCONFIRMED;
  if (sessions.get(confirmed)) return confirmed;
  return isConfirmed && !sessions.get(unconfirmed) ? confirmed : unconfirmed;
}

/** How a session is learned. */
export interface LearnOptions {
  /**
   * Whether a person has looked at the session and found it to be usual work: it is learned then, whatever it scored.
   * An agent whose usual work scores `high` has no other way to a past. Default: false.
   */
  readonly isConfirmed?: boolean;
}

/**
 * Lets a baseline learn a session that is over; learned again, it counts once. A session without a call is not learned,
 * nor is one whose score is `high` or `critical`, unless a person confirmed it: what is suspect must not become usual.
 *
 * `score` must be the session's score against the baseline that was frozen when it started.
 * Returns whether it was learned: it is not where the baseline's sample has no place for it.
 */
export function learn(
  baseline: Baseline,
  state: SessionState,
  score: RiskScore,
  { isConfirmed = false }: LearnOptions = {},
): boolean {
  const isSuspect = score.level === 'high' || score.level === 'critical';
  if (isSuspect && !isConfirmed) return false;
  if (state.log.total === 0) return false;
  const rules = score.dimensions.flatMap((dimension) =>
    dimension.factors.map((factor) => ruleHash(factor.ruleId)),
  );
  const past = pastSession(state, rules);
  const kept = baseline.sessions.reach(placeOf(baseline, state.session, isSuspect), () => ({ past }));
  if (kept !== undefined) kept.past = past;
  return kept !== undefined;
}
