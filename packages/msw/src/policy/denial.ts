import type { PolicyCheck } from '@actlog/protocol';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { recordDecision } from './pending.ts';

/**
 * Tells the session of an action that a policy denies it: once for each policy, however often a named or held action is
 * asked about, and also where the action was held or let through before.
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
  if (actionId !== undefined && tenant.toldDenials.has(denial)) return;
  tenant.toldDenials.add(denial);
  const { toolName, argumentsHash } = check.action;
  const decision = { decision: 'deny', policyId, ...(rate !== null && { rate }), decidedBy: null } as const;
  const pendingActionId = held?.id ?? null;
  recordDecision(tenant, check, { toolName, argumentsHash, ...decision, pendingActionId, heldMs: 0 }, nowMs);
}
