import {
  type Approver,
  approvalSubject,
  type CheckEffect,
  changedDecision,
  decideHeld,
  endDecision,
  heldSizeRefusal,
  policyDecision,
  promptPolicyId,
} from '@actlog/policy';
import { type Decide, type PolicyCheck, stringifyExactJson } from '@actlog/protocol';
import { notFound, refusalError } from '../service/api-error.ts';
import type { PendingActionRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { createGrant, recordDecision } from './approval-grants.ts';

/**
 * Finds the same action if it is already held. Without an actionId, the approval's subject identifies it. If the
 * requester cannot approve the action, its check was sent with the same key.
 */
export function findEqualHeld(
  tenant: Tenant,
  check: PolicyCheck,
  keyId: string,
): PendingActionRecord | undefined {
  const subject = approvalSubject(check);
  return [...tenant.pendingActions.values()].find(
    (other) =>
      other.status === 'pending' &&
      other.agentId === check.agentId &&
      approvalSubject(other) === subject &&
      (!other.approvals.notRequester || other.requestedBy === keyId),
  );
}

/** Holds an action for approval. @throws ApiError 413 if the action is too large. */
export function holdAction(
  tenant: Tenant,
  check: PolicyCheck,
  { action: held, policy }: CheckEffect & { type: 'hold' },
  nowMs: number,
): void {
  const { createdMs, expiresMs: _, action, policies, ...state } = held;
  const tooLarge = heldSizeRefusal(new TextEncoder().encode(stringifyExactJson(action) as string).length);
  if (tooLarge) throw refusalError(tooLarge);
  tenant.holdingPolicies.set(held.id, policies);
  tenant.pendingActions.set(held.id, {
    ...state,
    action,
    agentId: check.agentId,
    sessionId: check.sessionId ?? null,
    createdAt: new Date(createdMs).toISOString(),
  });
  recordDecision(tenant, check, policyDecision(check, 'require_approval', policy, held.id), nowMs);
}

/** Lengthens the hold of the agent's prompt, which lasts for as long as the agent checks it. */
export function lengthenHold(
  tenant: Tenant,
  { holdSeconds }: PolicyCheck,
  heldId: string | null | undefined,
  nowMs: number,
): void {
  const held = tenant.pendingActions.get(heldId ?? '');
  if (holdSeconds === undefined || held?.policyId !== promptPolicyId || held.status !== 'pending') return;
  const expiresMs = Math.max(Date.parse(held.expiresAt), nowMs + holdSeconds * 1000);
  tenant.pendingActions.set(held.id, { ...held, expiresAt: new Date(expiresMs).toISOString() });
}

/** Expires actions whose time is over. */
export function expireActions(tenant: Tenant, nowMs: number): void {
  for (const action of tenant.pendingActions.values()) {
    if (action.status !== 'pending' || Date.parse(action.expiresAt) > nowMs) continue;
    end(tenant, { ...action, status: 'expired', changedArguments: null }, 'expired', null, nowMs);
  }
}

/**
 * Decides an action. Repeating the same decision returns the first result.
 *
 * @throws ApiError for an unknown action, a late or forbidden decision, or too many grants.
 */
export function decideAction(
  tenant: Tenant,
  id: string,
  body: Pick<Decide, 'decision' | 'comment' | 'grant' | 'changedArguments'>,
  approver: Approver,
  nowMs: number,
): PendingActionRecord {
  expireActions(tenant, nowMs);
  const action = tenant.pendingActions.get(id);
  if (!action) throw notFound('pending action');
  const decided = decideHeld(action, body, approver, nowMs);
  if (decided.type === 'refused') throw refusalError(decided.refusal);
  if (decided.type === 'unchanged') return action;
  const approvals = { ...action.approvals, given: [...decided.given] };
  const changedArguments = decided.changedArguments && { ...decided.changedArguments };
  if (decided.type === 'counted') {
    const counted = { ...action, approvals, changedArguments };
    tenant.pendingActions.set(id, counted);
    record(tenant, counted, 'partially_approved', approver, nowMs);
    return counted;
  }
  const { sessionId } = action;
  const grantId =
    decided.grant && sessionId !== null
      ? createGrant(tenant, { ...action, changedArguments, sessionId }, decided.grant, approver.key, nowMs)
      : null;
  const decision = {
    decision: body.decision,
    comment: body.comment ?? null,
    decidedBy: approver.key,
    principal: approver.principal,
    decidedAt: new Date(nowMs).toISOString(),
  };
  const ended = { ...action, status: decided.status, approvals, grantId, changedArguments, decision };
  end(tenant, ended, decided.status, approver, nowMs);
  tenant.waiting.wake();
  return ended;
}

/** Stores the hash of the changed arguments that a check is about to run, and records that in the session. */
export function runChanged(tenant: Tenant, check: PolicyCheck, heldId: string, nowMs: number): void {
  const held = tenant.pendingActions.get(heldId) as PendingActionRecord;
  tenant.pendingActions.set(heldId, { ...held, executedHash: check.action.argumentsHash });
  const grant = held.grantId === null ? undefined : tenant.grants.get(held.grantId);
  if (grant) tenant.grants.set(grant.id, { ...grant, subject: approvalSubject(check) });
  recordDecision(tenant, check, changedDecision(check, held), nowMs);
}

/** Stores an action that has ended, and records its end in the session. */
function end(
  tenant: Tenant,
  ended: PendingActionRecord,
  decision: 'approved' | 'denied' | 'expired',
  approver: Approver | null,
  nowMs: number,
): void {
  tenant.pendingActions.set(ended.id, ended);
  record(tenant, ended, decision, approver, nowMs);
}

function record(
  tenant: Tenant,
  action: PendingActionRecord,
  decision: Parameters<typeof endDecision>[1],
  approver: Approver | null,
  nowMs: number,
): void {
  const payload = endDecision(action, decision, approver, nowMs - Date.parse(action.createdAt));
  recordDecision(tenant, action, payload, nowMs);
}
