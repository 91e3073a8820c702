import type { SentOf } from '@actlog/protocol';
import { isoTime } from '../iso-time.ts';
import { type PendingActionRow, statusAt } from '../storage/pending-action-store.ts';

/** A pending action as the wire shows it, as it is at a moment. */
export function pendingActionView(
  row: PendingActionRow,
  nowMs: number,
): SentOf<'guardian.pendingActions.decide'> {
  const decided = row.decided_by !== null && row.decided_ms !== null;
  return {
    id: row.id,
    status: statusAt(row, nowMs),
    agentId: row.agent_id,
    sessionId: row.session_id,
    policyId: row.policy_id,
    action: JSON.parse(row.action) as { toolName: string; argumentsHash: string },
    reason: row.reason,
    createdAt: isoTime(row.created_ms),
    expiresAt: isoTime(row.expires_ms),
    onTimeout: row.on_timeout,
    decision: decided
      ? {
          decision: row.status === 'approved' ? 'approve' : 'deny',
          comment: row.comment,
          decidedBy: row.decided_by as string,
          decidedAt: isoTime(row.decided_ms as number),
        }
      : null,
  };
}
