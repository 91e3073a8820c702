import type { SentOf } from '@actlog/protocol';
import { emptySession, parseBaseline, parseSession, score } from '@actlog/risk';
import { isoTime } from '../iso-time.ts';
import type { Services } from '../services.ts';
import { findSessionRisk } from '../storage/risk-store.ts';
import { findSession, type SessionSummary } from '../storage/session-store.ts';

/** A session and its risk, of one and the same state of the data. */
export interface SessionWithRisk {
  readonly summary: SessionSummary;
  readonly risk: SentOf<'sessions.risk'>;
}

/** The risk of a session with all its events in it; undefined when there is no such session. */
export async function readRisk(
  services: Services,
  tenantId: number,
  id: string,
  nowMs: number,
): Promise<SessionWithRisk | undefined> {
  for (let isCaughtUp = false; ; isCaughtUp = true) {
    const found = await services.storage.read(tenantId, async (db) => {
      const summary = await findSession(db, tenantId, id);
      return summary && { summary, stored: await findSessionRisk(db, tenantId, id) };
    });
    if (!found) return undefined;
    const { summary, stored } = found;
    // Events that come in while it is caught up with belong to the next answer.
    if (summary.risk_arrival < summary.last_arrival && !isCaughtUp) {
      await services.settling.catchUp([{ tenant_id: tenantId, id }]);
      continue;
    }
    const result = score(stored ? parseSession(stored.state) : emptySession(), {
      baseline: stored?.baseline == null ? undefined : parseBaseline(stored.baseline),
    });
    const risk = { sessionId: id, computedAt: isoTime(nowMs), ...result };
    return { summary, risk: risk as unknown as SentOf<'sessions.risk'> };
  }
}
