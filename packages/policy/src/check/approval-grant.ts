import type { PolicyCheck } from '@actlog/protocol';
import { holdingPolicies, type PolicyVersion } from './approval-rules.ts';
import type { FiredPolicy } from './fired-policy.ts';

/** Permission of an approver for later actions of one agent in one session. */
export interface ApprovalGrant {
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Person or system on whose behalf the agent acted; null for none. */
  readonly principal: string | null;
  /** `action` for the same action, `tool` for any call of the same tool. */
  readonly for: 'action' | 'tool';
  readonly toolName: string;
  /** Subject of the approval, which identifies the action. */
  readonly subject: string;
  /** Policies that held the action, at the versions that held it. */
  readonly policies: readonly PolicyVersion[];
  /** Id of the key of the last approver. */
  readonly grantedBy: string;
  /** Time at which it ends, in Unix milliseconds. */
  readonly expiresMs: number;
  /** Number of actions that it still lets run; null if not limited. */
  readonly remainingUses: number | null;
  /** `true` if it was revoked. */
  readonly isRevoked: boolean;
}

/** The check that a grant may allow. */
export interface GrantedCheck {
  readonly check: Pick<PolicyCheck, 'agentId' | 'sessionId' | 'action' | 'principal'>;
  /** Subject that an approval of the action would have. Called only when a grant depends on it. */
  readonly subject: () => string;
  /** Policies that fire, in order of precedence. */
  readonly fired: readonly FiredPolicy[];
  /** Id of the grant that allowed an earlier check of the same `actionId`; null for none. Its use is already counted. */
  readonly usedGrantId: string | null;
  /** Time of the check, in Unix milliseconds. */
  readonly nowMs: number;
}

/**
 * Returns the grant that allows a check, or `undefined` if none does. Every policy that holds the action must have held
 * the approved one, at the same version: a policy that is new, changed, or did not hold the approved action needs a new
 * approval.
 */
export function coveringGrant(
  grants: readonly ApprovalGrant[],
  checked: GrantedCheck,
): ApprovalGrant | undefined {
  const covering = grants.filter((grant) => covers(grant, checked));
  return covering.find(({ id }) => id === checked.usedGrantId) ?? covering[0];
}

function covers(grant: ApprovalGrant, { check, subject, fired, usedGrantId, nowMs }: GrantedCheck): boolean {
  const isLeft = grant.id === usedGrantId || grant.remainingUses === null || grant.remainingUses > 0;
  if (grant.isRevoked || grant.expiresMs <= nowMs || !isLeft) return false;
  if (grant.agentId !== check.agentId || grant.sessionId !== check.sessionId) return false;
  if (grant.principal !== (check.principal ?? null)) return false;
  if (grant.toolName !== check.action.toolName) return false;
  if (grant.for === 'action' && grant.subject !== subject()) return false;
  return holdingPolicies(fired).every(({ policy: { id, version } }) =>
    grant.policies.some((held) => held.id === id && held.version !== null && held.version === version),
  );
}
