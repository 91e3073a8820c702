import { isUsedUp } from '@actlog/policy';
import {
  findPendingAction,
  markApprovalUsed,
  type PendingActionRow,
} from '../storage/stores/pending-action-store.ts';
import type { Database } from '../storage/transaction.ts';
import { heldOutcome } from './held-outcome.ts';

/**
 * Returns the held action that decides a check. A used-up single-use approval decides nothing: the action is then
 * checked, and held, as if it had never been held.
 */
export async function findDecidingAction(
  db: Database,
  tenantId: number,
  id: string,
  actionId: string | undefined,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  const row = await findPendingAction(db, tenantId, id);
  if (!row || row.used_ms === null) return row;
  return isUsedUp({ actionId: row.used_by, usedMs: row.used_ms }, actionId, nowMs) ? undefined : row;
}

/** `true` if running the action uses its approval, which requires a write. */
export function isUsedByRunning(row: PendingActionRow, nowMs: number): boolean {
  return row.single_use === 1 && row.used_ms === null && heldOutcome(row, nowMs).decision === 'allow';
}

/**
 * Marks the approval of a held action as used by a check, if it is for a single use.
 *
 * @returns the action while it decides the check; `undefined` if another check used the approval first.
 */
export async function useApproval(
  db: Database,
  row: PendingActionRow,
  actionId: string | undefined,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  if (!isUsedByRunning(row, nowMs) || (await markApprovalUsed(db, row, actionId, nowMs))) return row;
  return findDecidingAction(db, row.tenant_id, row.id, actionId, nowMs);
}
