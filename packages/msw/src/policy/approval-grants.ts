import {
  approvalSubject,
  type CheckEffect,
  ConditionError,
  type DecisionPayload,
  decisionEvent,
  type GrantTerms,
  grantedDecision,
  maxSessionGrants,
  maxTenantGrants,
  type PolicyRule,
  policyRule,
} from '@actlog/policy';
import { headers, type PolicyCheck } from '@actlog/protocol';
import { v4 } from 'uuid';
import { ApiError, invalid } from '../service/api-error.ts';
import { newId } from '../service/call.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** Counts an action for the grant that allows it, and records that in its session. */
export function useGrant(
  tenant: Tenant,
  check: PolicyCheck,
  { grant, policy }: CheckEffect & { type: 'use_grant' },
  nowMs: number,
): void {
  const remainingUses = grant.remainingUses === null ? null : grant.remainingUses - 1;
  tenant.grants.set(grant.id, { ...grant, remainingUses });
  recordDecision(tenant, check, grantedDecision(check, policy, grant), nowMs);
}

/**
 * Creates the grant of an approval, and returns its id.
 *
 * @throws ApiError `RATE_LIMITED` when the session or the tenant has too many valid grants.
 */
export function createGrant(
  tenant: Tenant,
  held: PendingActionRecord & { readonly sessionId: string },
  terms: GrantTerms,
  grantedBy: string,
  nowMs: number,
): string {
  const valid = [...tenant.grants.values()].filter((grant) => grant.expiresMs > nowMs && !grant.isRevoked);
  const ofSession = valid.filter(({ sessionId }) => sessionId === held.sessionId);
  requireRoom('session', ofSession.length, maxSessionGrants);
  requireRoom('tenant', valid.length, maxTenantGrants);
  const id = newId('grt');
  tenant.grants.set(id, {
    id,
    agentId: held.agentId,
    sessionId: held.sessionId,
    principal: held.principal,
    for: terms.for,
    toolName: held.action.toolName,
    // That of changed arguments is known when the agent checks them. Until then, the grant allows nothing.
    subject: held.changedArguments === null ? approvalSubject(held) : '',
    policies: tenant.holdingPolicies.get(held.id) ?? [],
    grantedBy,
    expiresMs: nowMs + terms.durationMs,
    remainingUses: terms.maxUses,
    isRevoked: false,
  });
  return id;
}

function requireRoom(owner: 'session' | 'tenant', count: number, limit: number): void {
  if (count < limit) return;
  const message = `The ${owner} has ${limit} valid grants, which is the limit. Revoke one, or approve only this action.`;
  throw new ApiError('RATE_LIMITED', message, {
    details: [{ path: 'grant', code: 'too_many_grants', message: `exceeds ${limit} grants of a ${owner}` }],
    headers: { [headers.retryAfter]: '60' },
  });
}

/** Records a decision in the session of its action, where the risk engine reads it. */
export function recordDecision(
  tenant: Tenant,
  { agentId, sessionId }: { readonly agentId: string; readonly sessionId?: string | null | undefined },
  payload: DecisionPayload,
  nowMs: number,
): void {
  if (sessionId == null) return;
  tenant.record(decisionEvent(v4(), { agentId, sessionId }, payload, nowMs), nowMs);
}

/** Cache of compiled rules. Records are never changed, only replaced. */
const read = new WeakMap<PolicyRecord, PolicyRule>();

/**
 * Returns the compiled rule of a policy.
 *
 * @throws ApiError `VALIDATION_ERROR` for a condition that the reference server would reject.
 */
export function ruleOf(policy: PolicyRecord): PolicyRule {
  const known = read.get(policy);
  if (known) return known;
  try {
    const rule = policyRule(policy);
    read.set(policy, rule);
    return rule;
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw invalid('condition', 'invalid_condition', error.problem);
  }
}
