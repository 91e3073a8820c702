import type { PolicyCheck } from '@actlog/protocol';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { recordDecision } from './pending.ts';

/**
 * Records a denial by a policy in the action's session: once per policy, even if a named or held action is checked
 * repeatedly, and also if the action was held or allowed before.
 */
export function recordDenial(
  tenant: Tenant,
  check: PolicyCheck,
  { id: policyId, rate }: PolicyRecord,
  held: PendingActionRecord | undefined,
  nowMs: number,
): void {
  const { agentId, actionId = held?.id } = check;
  const denial = JSON.stringify([agentId, actionId, policyId]);
  if (actionId !== undefined && tenant.reportedDenials.has(denial)) return;
  tenant.reportedDenials.add(denial);
  const { toolName, argumentsHash } = check.action;
  const decision = { decision: 'deny', policyId, ...(rate !== null && { rate }), decidedBy: null } as const;
  const pendingActionId = held?.id ?? null;
  recordDecision(tenant, check, { toolName, argumentsHash, ...decision, pendingActionId, heldMs: 0 }, nowMs);
}
