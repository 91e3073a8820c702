import type { SentOf } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../iso-time.ts';
import { type PendingActionRow, statusAt } from '../storage/stores/pending-action-store.ts';

/** Returns a pending action as the wire shows it at a given time. */
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
    singleUse: row.single_use === 1,
    usedAt: isoTimeOrNull(row.used_ms),
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
