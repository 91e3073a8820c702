import type { RiskJudgment, SessionHandling } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { HandledSessionRow } from '../storage/stores/handled-session-store.ts';
import type { RiskJudgmentRow } from '../storage/stores/judgment-store.ts';

/** Returns a judgment as the API returns it. */
export function judgmentView(row: RiskJudgmentRow, nowMs: number): RiskJudgment {
  return {
    id: row.id,
    kind: row.kind,
    scope: { sessionId: row.session_id, agentId: row.agent_id, toolName: row.tool_name, ruleId: row.rule_id },
    reason: row.reason,
    status: row.ended_ms !== null ? 'ended' : row.until_ms <= nowMs ? 'expired' : 'active',
    createdBy: row.created_by,
    createdByPrincipal: row.created_principal,
    createdAt: isoTime(row.created_ms),
    appliesFrom: row.session_id === null ? isoTime(row.from_ms) : null,
    expiresAt: isoTimeOrNull(row.expires_ms),
    endedAt: isoTimeOrNull(row.ended_ms),
    endedBy: row.ended_by,
    endedByPrincipal: row.ended_principal,
    isUndone: row.from_ms >= row.until_ms,
  };
}

/** Returns the handling of a session as the API returns it. */
export function handlingView(row: HandledSessionRow): SessionHandling {
  return {
    handledAt: isoTime(row.handled_ms),
    handledBy: row.handled_by,
    handledByPrincipal: row.handled_principal,
    reason: row.reason,
    score: row.score,
  };
}
