import { isUsedUp } from '@actlog/policy';
import { findPendingAction, type PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { Database } from '../storage/transaction.ts';

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
