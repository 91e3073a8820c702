import { hash32 } from '../codec/hash32.ts';
import type { RiskScore } from '../risk-score.ts';
import { BottomK } from '../session/bottom-k.ts';
import { sessionMarkIndex } from '../session/mark.ts';
import type { SessionState } from '../session/session-state.ts';
import { stampIndex } from '../stamp-name.ts';
import { hasForeignAct, type PastSession, pastSession } from './past-session.ts';

/** Number of sessions that a baseline keeps. */
export const keptSessions = 16;

/**
 * Baseline of an agent or of one of its workflows: a sample of its past sessions. The sample depends only on the set of
 * learned sessions: confirmed sessions come first, then those whose ids have the smallest hashes. It is therefore the
 * same for any order of learning, and flooding it with sessions gains no more than a proportional share.
 */
export interface Baseline {
  readonly sessions: BottomK<{ past: PastSession }>;
}

/** Creates a baseline that has learned nothing. */
export function emptyBaseline(): Baseline {
  return { sessions: new BottomK(keptSessions) };
}

const elsewhere = ruleHash('privilege.agent-elsewhere');
const calls = ['call', 'message', 'memory'] as const;

/** First sort key of unconfirmed sessions; confirmed ones sort before it. */
const unconfirmedFlag = 2 ** 31;

/** Returns the 16-bit hash by which a baseline remembers a rule. */
export function ruleHash(ruleId: string): number {
  return hash32(ruleId) & 0xffff;
}

/** Returns the sort key of a session. A session that is learned again keeps its key. */
function placeOf({ sessions }: Baseline, session: number, isConfirmed: boolean): number {
  const confirmed = session >>> 1;
  const unconfirmed = confirmed + unconfirmedFlag;
  if (sessions.get(confirmed)) return confirmed;
  return isConfirmed && !sessions.get(unconfirmed) ? confirmed : unconfirmed;
}

function hasCalls({ marks }: SessionState): boolean {
  return calls.some((mark) => (marks[sessionMarkIndex[mark]]?.count ?? 0) > 0);
}

/** Removes a session that turned out to be an attack. Returns `true` if the baseline had learned it. */
export function forget({ sessions }: Baseline, { session }: SessionState): boolean {
  const confirmed = session >>> 1;
  const places = [confirmed, confirmed + unconfirmedFlag];
  return places.filter((place) => sessions.drop(place)).length > 0;
}

/** Options for {@link learn}. */
export interface LearnOptions {
  /**
   * `true` if a person reviewed the session and found it benign: it is then learned at any score. This is the only way
   * to learn a baseline for an agent whose known-good sessions score `medium` or above. Default: false.
   */
  readonly isConfirmed?: boolean;
}

/**
 * Adds a finished session to a baseline; a session that is learned again counts once. Sessions without a call are not
 * learned. Sessions that score `medium` or above, or in which a text of third parties aimed an action, are only learned
 * if a person confirmed them, so that suspicious behavior does not become normal.
 *
 * `score` must be the session's score against the baseline that was frozen when it started.
 * Returns `true` if the session was learned; it is not if the sample has no place for it.
 */
export function learn(
  baseline: Baseline,
  state: SessionState,
  score: RiskScore,
  { isConfirmed = false }: LearnOptions = {},
): boolean {
  const isSuspect = score.level !== 'low' || hasForeignAct(state);
  if (isSuspect && !isConfirmed) return false;
  if (!hasCalls(state)) return false;
  const rules = score.dimensions.flatMap((dimension) =>
    dimension.factors.map((factor) => ruleHash(factor.ruleId)),
  );
  // The rule does not match where this is usual; what is usual would be forgotten, and match again.
  if ((state.stamps[stampIndex.agent_elsewhere]?.count ?? 0) > 0) rules.push(elsewhere);
  const past = pastSession(state, rules);
  const kept = baseline.sessions.reach(placeOf(baseline, state.session, isSuspect), () => ({ past }));
  if (kept !== undefined) kept.past = past;
  return kept !== undefined;
}
