import type { RiskLevel } from '@actlog/protocol';
import { ActivityChange } from '../storage/activity/activity-change.ts';
import { addActivity } from '../storage/activity/activity-store.ts';
import type { ReachedLevels } from '../storage/event-recording.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import type { Database } from '../storage/transaction.ts';

/** A session that was scored, and its level before. */
export interface RescoredSession {
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
