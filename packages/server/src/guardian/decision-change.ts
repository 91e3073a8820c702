import { fieldChanges } from '../audit/field-changes.ts';
import type { Change } from '../audit/record-change.ts';
import type { PendingActionRow } from '../storage/stores/pending-action-store.ts';

/**
 * Returns the entry of the audit log for an approver's decision: the status, the number of approvals and the grant. The
 * action's arguments and the approver's comment stay with the action.
 */
export function decisionChange(before: PendingActionRow, after: PendingActionRow): Change {
  const { toolName } = JSON.parse(before.action) as { readonly toolName: string };
  const action =
    after.status === 'approved'
      ? 'held_action.approved'
      : after.status === 'denied'
        ? 'held_action.denied'
        : 'held_action.partially_approved';
  return {
    action,
    target: { id: before.id, name: toolName },
    changes: fieldChanges(audited(before), audited(after), ['status', 'approvals', 'grantId']),
  };
}

function audited({ status, approvals, grant_id: grantId }: PendingActionRow) {
  const given = approvals === null ? 0 : (JSON.parse(approvals) as readonly unknown[]).length;
  return { status, approvals: given, grantId };
}
