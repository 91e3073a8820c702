import type { HeldAction } from '@actlog/policy';
import type { SentOf } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { type PendingActionRow, statusAt } from '../storage/stores/pending-action-store.ts';

/** Returns the state of a pending action at a given time, without the action itself. */
export function heldAction(row: PendingActionRow, nowMs: number): HeldAction {
  const decided = row.decided_by !== null && row.decided_ms !== null;
  return {
    id: row.id,
    status: statusAt(row, nowMs),
    policyId: row.policy_id,
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

/** Returns a pending action as the wire shows it at a given time. */
export function pendingActionView(
  row: PendingActionRow,
  nowMs: number,
): SentOf<'guardian.pendingActions.decide'> {
  const { id, status, policyId, ...state } = heldAction(row, nowMs);
  return {
    id,
    status,
    agentId: row.agent_id,
    sessionId: row.session_id,
    policyId,
    action: JSON.parse(row.action) as { toolName: string; argumentsHash: string },
    reason: row.reason,
    createdAt: isoTime(row.created_ms),
    ...state,
  };
}
