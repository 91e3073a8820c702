import type { Database } from '../transaction.ts';
import type { PendingActionRow } from './pending-action-store.ts';

/** Columns that a decision or an expiry writes. */
export interface PendingActionEnd
  extends Pick<
    PendingActionRow,
    'comment' | 'decided_by' | 'decided_principal' | 'decided_ms' | 'approvals' | 'grant_id'
  > {
  readonly status: Exclude<PendingActionRow['status'], 'pending'>;
}

/**
 * Ends a pending action: of racing calls exactly one returns `true`. A decision is possible only before the action's
 * expiry and an expiry only after it, so the two are never possible at the same time.
 */
export async function endPendingAction(
  db: Database,
  tenantId: number,
  id: string,
  end: PendingActionEnd,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('pending_actions')
    .set(end)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('expires_ms', end.status === 'expired' ? '<=' : '>', nowMs)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Stores the approvals of a pending action, which must be locked. Returns `false` if the action is no longer pending.
 */
export async function saveApprovals(
  db: Database,
  { tenant_id: tenantId, id }: Pick<PendingActionRow, 'tenant_id' | 'id'>,
  approvals: string | null,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('pending_actions')
    .set({ approvals })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Marks a single-use approval as used by a check. Of racing checks exactly one returns `true`.
 */
export async function markApprovalUsed(
  db: Database,
  { tenant_id: tenantId, id }: Pick<PendingActionRow, 'tenant_id' | 'id'>,
  actionId: string | undefined,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('pending_actions')
    .set({ used_by: actionId ?? null, used_ms: nowMs })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('used_ms', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
