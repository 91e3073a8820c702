import type { WebhookEvent } from '@actlog/protocol';
import {
  type Baseline,
  emptySession,
  type Judgment,
  parseBaseline,
  parseSession,
  type RiskScore,
  type SessionState,
  score,
} from '@actlog/risk';
import { isoTime } from '../lib/iso-time.ts';
import { isAtLeast } from '../lib/risk-levels.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import { appliesTo, type RiskJudgmentRow } from '../storage/stores/judgment-store.ts';

/** A session with its risk state up to its newest event. */
export interface ScorableSession {
  readonly summary: SessionSummary;
  readonly state: SessionState;
  readonly baseline: Baseline | undefined;
}

/** Returns a session with its stored risk, or without any if no event was scored yet. */
export function storedSession(
  summary: SessionSummary,
  stored: { readonly state: string; readonly baseline: string | null } | undefined,
): ScorableSession {
  const state = stored ? parseSession(stored.state) : emptySession();
  const baseline = stored?.baseline == null ? undefined : parseBaseline(stored.baseline);
  return { summary, state, baseline };
}

/** Returns the judgments that apply to a session, as the engine reads them. */
export function engineJudgments(
  rows: readonly RiskJudgmentRow[],
  summary: Pick<SessionSummary, 'id' | 'agentIds' | 'received_ms'>,
): Judgment[] {
  const applicable = rows.length === 0 ? rows : rows.filter((row) => appliesTo(row, summary));
  return applicable.map((row) => ({
    id: row.id,
    kind: row.kind,
    ruleId: row.rule_id ?? undefined,
    toolName: row.tool_name ?? undefined,
    agentId: row.agent_id ?? undefined,
    isOfSession: row.session_id !== null,
    actions: row.actions ?? undefined,
  }));
}

/** Returns the score of a session with the judgments that apply to it. */
export function judgedScore(
  { summary, state, baseline }: ScorableSession,
  rows: readonly RiskJudgmentRow[],
): RiskScore {
  return score(state, { baseline, judgments: engineJudgments(rows, summary) });
}

/**
 * Updates the score in a session's summary. Returns the webhook message if its level rose.
 *
 * @param judgments - judgments that may apply to the session
 */
export function scoreSession(
  session: ScorableSession,
  judgments: readonly RiskJudgmentRow[],
): WebhookEvent | undefined {
  const { summary } = session;
  const previousLevel = summary.risk_level;
  const { score: value, level } = judgedScore(session, judgments);
  summary.risk_score = value;
  summary.risk_level = level;
  summary.risk_arrival = summary.last_arrival;
  if (isAtLeast(previousLevel ?? 'low', level)) return undefined;
  return {
    type: 'session.risk_raised',
    timestamp: isoTime(Date.now()),
    data: { sessionId: summary.id, agentId: summary.agent_id, score: value, level, previousLevel },
  };
}
