import type { FiredPolicy } from './fired-policy.ts';

/** Rules about the approvals of a held action. */
export interface ApprovalRules {
  /** Number of approvers who must approve. */
  readonly required: number;
  /** Ids of the keys that may approve; null for every key that may decide. */
  readonly approverKeys: string[] | null;
  /** `true` if the requester cannot approve. */
  readonly notRequester: boolean;
  /** `true` if an approval lets one call run. */
  readonly singleUse: boolean;
}

/** A policy at a version. */
export interface PolicyVersion {
  readonly id: string;
  /** Null if the version is unknown. */
  readonly version: number | null;
}

/** Returns the policies that require approval. A policy of the mode `log_only` requires nothing. */
export function holdingPolicies(fired: readonly FiredPolicy[]): readonly FiredPolicy[] {
  return fired.filter(
    ({ policy: { definition } }) => definition.effect === 'require_approval' && definition.mode === 'enforce',
  );
}

/** Returns the policies that require approval, with their versions. */
export function holdingVersions(fired: readonly FiredPolicy[]): readonly PolicyVersion[] {
  return holdingPolicies(fired).map(({ policy: { id, version } }) => ({ id, version: version ?? null }));
}

/**
 * Returns the rules that satisfy every policy that holds the action, so that another policy that holds the same action
 * cannot bypass one: the highest number of approvers, the keys that all of them permit, and any other restriction.
 */
export function approvalRules(fired: readonly FiredPolicy[]): ApprovalRules {
  const approvals = holdingPolicies(fired).flatMap(({ policy }) => policy.definition.approval ?? []);
  const keys = approvals.flatMap(({ approverKeys }) => (approverKeys ? [approverKeys] : []));
  const [first, ...others] = keys;
  return {
    required: Math.max(1, ...approvals.map(({ requiredApprovers = 1 }) => requiredApprovers)),
    approverKeys: first
      ? [...new Set(first.filter((key) => others.every((list) => list.includes(key))))]
      : null,
    notRequester: approvals.some(({ notRequester }) => notRequester === true),
    singleUse: approvals.some(({ singleUse }) => singleUse === true),
  };
}
