import { isUsedUp } from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';
import type { PendingActionRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** Returns the held action that decides a check. A used single-use approval no longer decides. */
export function findDecidingAction(
  tenant: Tenant,
  { actionId }: PolicyCheck,
  id: string | null | undefined,
  nowMs: number,
): PendingActionRecord | undefined {
  const use = tenant.approvalUses.get(id ?? '');
  return use && isUsedUp(use, actionId, nowMs) ? undefined : tenant.pendingActions.get(id ?? '');
}

/** Uses up the single-use approval of a held action for a check that it allows. */
export function useApproval(tenant: Tenant, { actionId }: PolicyCheck, heldId: string, nowMs: number): void {
  const held = tenant.pendingActions.get(heldId) as PendingActionRecord;
  tenant.approvalUses.set(heldId, { actionId: actionId ?? null, usedMs: nowMs });
  tenant.pendingActions.set(heldId, { ...held, usedAt: new Date(nowMs).toISOString() });
}
