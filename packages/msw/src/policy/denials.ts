import {
  type CheckEffect,
  denialIdentity,
  denyingPolicy,
  type FiredPolicy,
  policyDecision,
} from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';
import type { Tenant } from '../tenant/tenant.ts';
import { recordDecision } from './record-decision.ts';

/** `true` if no policy denies the action, or its denial is recorded. */
export function isDenialRecorded(
  tenant: Tenant,
  check: PolicyCheck,
  fired: readonly FiredPolicy[],
  heldId: string | null,
): boolean {
  const denying = denyingPolicy(fired);
  if (!denying) return true;
  const identity = denialIdentity(check, denying.policy.id, heldId);
  return identity !== undefined && tenant.recordedDenials.has(JSON.stringify(identity));
}

/** Records a denial by a policy in the action's session. */
export function recordDenial(
  tenant: Tenant,
  check: PolicyCheck,
  { denying: { policy }, heldId }: CheckEffect & { type: 'record_denial' },
  nowMs: number,
): void {
  const identity = denialIdentity(check, policy.id, heldId);
  if (identity) tenant.recordedDenials.add(JSON.stringify(identity));
  recordDecision(tenant, check, policyDecision(check, 'deny', policy, heldId), nowMs);
}
