import type { SentOf } from '@actlog/protocol';
import { isoTime } from '../lib/iso-time.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';

/** Returns a session as the wire shows it. */
export function sessionView(summary: SessionSummary): SentOf<'sessions.list'>['items'][number] {
  return {
    id: summary.id,
    agentId: summary.agent_id,
    agentIds: summary.agentIds,
    startedAt: isoTime(summary.started_ms),
    lastEventAt: isoTime(summary.last_event_ms),
    eventCount: summary.event_count,
    errorCount: summary.error_count,
    toolNames: summary.toolNames,
    risk:
      summary.risk_score === null || summary.risk_level === null
        ? null
        : { score: summary.risk_score, level: summary.risk_level },
  };
}
