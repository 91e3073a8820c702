import type { RiskLevel, SentOf } from '@actlog/protocol';
import type { SessionState } from '@actlog/risk';
import { isoTime } from '../lib/iso-time.ts';
import type { ReachedLevels } from '../storage/event-recording.ts';
import { findSession, type SessionSummary } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { ActivityChange, addActivity } from '../storage/stores/activity-change.ts';
import { judgmentsAbout } from '../storage/stores/judgment-store.ts';
import { findSessionRisk } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { RiskScoring } from './risk-scoring.ts';
import { judgedScore, storedSession } from './score-session.ts';

/** A session and its risk, from the same snapshot. */
export interface SessionWithRisk {
  readonly summary: SessionSummary;
  readonly risk: SentOf<'sessions.risk'>;
  readonly state: SessionState;
}

/** Parts that {@link readRisk} uses. */
export interface RiskParts {
  readonly storage: Storage;
  readonly scoring: RiskScoring;
}

/** Returns the risk of a session with all its events scored, or `undefined` for an unknown session. */
export async function readRisk(
  { storage, scoring }: RiskParts,
  tenantId: number,
  id: string,
  nowMs: number,
): Promise<SessionWithRisk | undefined> {
  for (let isCaughtUp = false; ; isCaughtUp = true) {
    const found = await storage.read(tenantId, async (db) => {
      const summary = await findSession(db, tenantId, id);
      if (!summary) return undefined;
      const stored = await findSessionRisk(db, tenantId, id);
      return { summary, stored, judgments: await judgmentsAbout(db, tenantId, [summary]) };
    });
    if (!found) return undefined;
    const { summary, stored, judgments } = found;
    // Events that arrive during catch-up are left to the next response.
    if (summary.risk_arrival < summary.last_arrival && !isCaughtUp) {
      await scoring.catchUp([{ tenant_id: tenantId, id }]);
      continue;
    }
    const session = storedSession(summary, stored);
    const result = judgedScore(session, judgments);
    const risk = { sessionId: id, computedAt: isoTime(nowMs), ...result };
    return { summary, risk: risk as unknown as SentOf<'sessions.risk'>, state: session.state };
  }
}

/** A session that was scored, and its level before. */
interface RescoredSession {
  readonly tenantId: number;
  readonly summary: Pick<SessionSummary, 'started_ms' | 'risk_level'>;
  /** `null` if it was not scored before. */
  readonly formerLevel: RiskLevel | null;
}

/** Adds the sessions that changed their level to the numbers of those that reached one. */
export function addReached(reached: ReachedLevels, sessions: readonly RescoredSession[]): void {
  for (const { summary, formerLevel } of sessions) {
    const level = summary.risk_level;
    if (level !== null && level !== formerLevel) reached[level] = (reached[level] ?? 0) + 1;
  }
}

/** Counts scored sessions by their current level, and no longer by the former one. */
export async function countLevels(db: Database, sessions: readonly RescoredSession[]): Promise<void> {
  for (const [tenantId, ofTenant] of Map.groupBy(sessions, (session) => session.tenantId)) {
    const change = new ActivityChange();
    for (const { summary, formerLevel } of ofTenant) {
      const startedMs = summary.started_ms;
      change.moveSession({ startedMs, level: formerLevel }, { startedMs, level: summary.risk_level });
    }
    await addActivity(db, tenantId, change, 'scores', Date.now());
  }
}
