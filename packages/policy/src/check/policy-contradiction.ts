import type { PolicyDefinition } from './fired-policy.ts';

/** A contradiction between fields of a policy. */
export interface PolicyContradiction {
  /** Path of the field. */
  readonly path: string;
  /** The problem, as the rest of a sentence that the field begins, without a period. */
  readonly message: string;
}

/** Returns a contradiction that the schema of a policy cannot express; undefined if there is none. */
export function policyContradiction({
  approval,
  effect,
}: Pick<PolicyDefinition, 'approval' | 'effect'>): PolicyContradiction | undefined {
  if (approval === null) return undefined;
  if (effect !== 'require_approval') {
    return { path: 'approval', message: 'is allowed only with the effect require_approval' };
  }
  const { approverKeys, requiredApprovers = 1 } = approval;
  const keys = new Set(approverKeys).size;
  if (approverKeys === undefined || keys >= requiredApprovers) return undefined;
  return {
    path: 'approval.requiredApprovers',
    message: `is ${requiredApprovers}, but approverKeys has ${keys} different ${keys === 1 ? 'key' : 'keys'}; list more keys or require fewer approvers`,
  };
}
