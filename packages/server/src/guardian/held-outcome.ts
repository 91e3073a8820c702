import type { SentOf } from '@actlog/protocol';
import { type PendingActionRow, statusAt } from '../storage/stores/pending-action-store.ts';

/** Returns the outcome of a check for an action in this state. */
export function heldOutcome(
  row: PendingActionRow,
  nowMs: number,
): Pick<SentOf<'policies.check'>, 'decision' | 'decidedBy' | 'comment'> {
  switch (statusAt(row, nowMs)) {
    case 'pending':
      return { decision: 'require_approval', decidedBy: row.policy_id, comment: null };
    case 'approved':
      return { decision: 'allow', decidedBy: row.decided_by, comment: row.comment };
    case 'denied':
      return { decision: 'deny', decidedBy: row.decided_by, comment: row.comment };
    case 'expired':
      return { decision: row.on_timeout, decidedBy: row.policy_id, comment: null };
  }
}
