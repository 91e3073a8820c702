import {
  approvalSubject,
  type CheckEffect,
  endDecision,
  heldSizeRefusal,
  lateDecisionRefusal,
  policyDecision,
} from '@actlog/policy';
import type { Decide, PolicyCheck } from '@actlog/protocol';
import { notFound, refusalError } from '../service/api-error.ts';
import type { PendingActionRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { recordDecision } from './record-decision.ts';

/** Finds the same action if it is already held. Without an actionId, the approval's subject identifies it. */
export function findEqualHeld(tenant: Tenant, check: PolicyCheck): PendingActionRecord | undefined {
  const subject = approvalSubject(check);
  return [...tenant.pendingActions.values()].find(
    (other) =>
      other.status === 'pending' && other.agentId === check.agentId && approvalSubject(other) === subject,
  );
}

/** Holds an action for approval. @throws ApiError 413 if the action is too large. */
export function holdAction(
  tenant: Tenant,
  check: PolicyCheck,
  { action: held, policy }: CheckEffect & { type: 'hold' },
  nowMs: number,
): void {
  const { createdMs, expiresMs: _, action, ...state } = held;
  const tooLarge = heldSizeRefusal(new TextEncoder().encode(JSON.stringify(action)).length);
  if (tooLarge) throw refusalError(tooLarge);
  tenant.pendingActions.set(held.id, {
    ...state,
    action,
    agentId: check.agentId,
    sessionId: check.sessionId ?? null,
    createdAt: new Date(createdMs).toISOString(),
  });
  recordDecision(tenant, check, policyDecision(check, 'require_approval', policy, held.id), nowMs);
}

/** Expires actions whose time is over. */
export function expireActions(tenant: Tenant, nowMs: number): void {
  for (const action of tenant.pendingActions.values()) {
    if (action.status !== 'pending' || Date.parse(action.expiresAt) > nowMs) continue;
    end(tenant, { ...action, status: 'expired' }, 'expired', nowMs);
  }
}

/**
 * Decides an action. Repeating the same decision returns the first result.
 *
 * @throws ApiError `NOT_FOUND`, `ALREADY_DECIDED` or `ACTION_EXPIRED`.
 */
export function decideAction(
  tenant: Tenant,
  id: string,
  { decision, comment = null }: Omit<Decide, 'comment'> & { readonly comment?: string | null | undefined },
  decidedBy: string,
  nowMs: number,
): PendingActionRecord {
  expireActions(tenant, nowMs);
  const action = tenant.pendingActions.get(id);
  if (!action) throw notFound('pending action');
  const status = decision === 'approve' ? 'approved' : 'denied';
  if (action.status === status) return action;
  if (action.status !== 'pending') throw refusalError(lateDecisionRefusal(action));
  const decidedAt = new Date(nowMs).toISOString();
  const decided = { ...action, status, decision: { decision, comment, decidedBy, decidedAt } } as const;
  end(tenant, decided, status, nowMs);
  tenant.waiting.wake();
  return decided;
}

/** Stores an action that has ended, and records its end in the session. */
function end(
  tenant: Tenant,
  ended: PendingActionRecord,
  decision: 'approved' | 'denied' | 'expired',
  nowMs: number,
): void {
  tenant.pendingActions.set(ended.id, ended);
  const heldMs = nowMs - Date.parse(ended.createdAt);
  const payload = endDecision(ended, decision, ended.decision?.decidedBy ?? null, heldMs);
  recordDecision(tenant, ended, payload, nowMs);
}
