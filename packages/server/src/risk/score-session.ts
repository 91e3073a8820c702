import type { RiskLevel, WebhookEvent } from '@actlog/protocol';
import { type Baseline, type SessionState, score } from '@actlog/risk';
import { isoTime } from '../lib/iso-time.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';

/** A session with its risk state up to its newest event. */
export interface ScorableSession {
  readonly summary: SessionSummary;
  readonly state: SessionState;
  readonly baseline: Baseline | undefined;
}

const severity: Record<RiskLevel, number> = { low: 0, medium: 1, high: 2, critical: 3 };

/** Updates the score in a session's summary. Returns the webhook message if its level rose. */
export function scoreSession({ summary, state, baseline }: ScorableSession): WebhookEvent | undefined {
  const previousLevel = summary.risk_level;
  const { score: value, level } = score(state, { baseline });
  summary.risk_score = value;
  summary.risk_level = level;
  summary.risk_arrival = summary.last_arrival;
  if (severity[level] <= severity[previousLevel ?? 'low']) return undefined;
  return {
    type: 'session.risk_raised',
    timestamp: isoTime(Date.now()),
    data: { sessionId: summary.id, agentId: summary.agent_id, score: value, level, previousLevel },
  };
}
