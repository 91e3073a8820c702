import type { SentOf } from '@actlog/protocol';
import { isoTime } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { findSession, type SessionSummary } from '../storage/sessions/session-store.ts';
import { judgmentsAbout } from '../storage/stores/judgment-store.ts';
import { findSessionRisk } from '../storage/stores/risk-store.ts';
import { judgedScore, storedSession } from './score-session.ts';

/** A session and its risk, from the same snapshot. */
export interface SessionWithRisk {
  readonly summary: SessionSummary;
  readonly risk: SentOf<'sessions.risk'>;
}

/** Returns the risk of a session with all its events scored, or `undefined` for an unknown session. */
export async function readRisk(
  services: Services,
  tenantId: number,
  id: string,
  nowMs: number,
): Promise<SessionWithRisk | undefined> {
  for (let isCaughtUp = false; ; isCaughtUp = true) {
    const found = await services.storage.read(tenantId, async (db) => {
      const summary = await findSession(db, tenantId, id);
      if (!summary) return undefined;
      const stored = await findSessionRisk(db, tenantId, id);
      return { summary, stored, judgments: await judgmentsAbout(db, tenantId, [summary]) };
    });
    if (!found) return undefined;
    const { summary, stored, judgments } = found;
    // Events that arrive during catch-up are left to the next response.
    if (summary.risk_arrival < summary.last_arrival && !isCaughtUp) {
      await services.scoring.catchUp([{ tenant_id: tenantId, id }]);
      continue;
    }
    const result = judgedScore(storedSession(summary, stored), judgments);
    const risk = { sessionId: id, computedAt: isoTime(nowMs), ...result };
    return { summary, risk: risk as unknown as SentOf<'sessions.risk'> };
  }
}
