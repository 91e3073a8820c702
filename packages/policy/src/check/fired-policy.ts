import type { PolicyEffect, SentOf } from '@actlog/protocol';

/** Fields of a policy that its author writes, with defaults filled in. */
export type PolicyDefinition = Omit<
  SentOf<'policies.get'>,
  'id' | 'status' | 'createdAt' | 'updatedAt' | 'archivedAt' | 'version'
>;

/** A policy with its id. */
export interface DefinedPolicy {
  readonly id: string;
  readonly definition: PolicyDefinition;
  /** Version of the policy; undefined for a built-in policy or a draft. */
  readonly version?: number | undefined;
}

/** A policy that applies to an action. */
export interface FiredPolicy {
  readonly policy: DefinedPolicy;
  /** Reason why it applies, for the reader of the response. */
  readonly why: string;
}

/**
 * Returns the policies that fire. A policy with a rate fires only when the action exceeds the rate.
 *
 * @param matching - policies whose names and condition match, in order of precedence
 * @param exceeded - reasons why rates are exceeded, by policy id
 */
export function firedPolicies(
  matching: readonly FiredPolicy[],
  exceeded: ReadonlyMap<string, string>,
): readonly FiredPolicy[] {
  return matching.flatMap((fired) => {
    if (fired.policy.definition.rate === null) return [fired];
    const reason = exceeded.get(fired.policy.id);
    return reason === undefined ? [] : [{ ...fired, why: `${fired.why}; ${reason}` }];
  });
}

/** Returns the policies that apply for as long as an action is held. Rates apply only when the action is counted. */
export function lastingPolicies(matching: readonly FiredPolicy[]): readonly FiredPolicy[] {
  return matching.filter(({ policy }) => policy.definition.rate === null);
}

/** Combined decision of the policies about an action. */
export interface Verdict {
  readonly decision: PolicyEffect;
  /** The deciding policy; undefined if none decided and the action is allowed by default. */
  readonly decidedBy: FiredPolicy | undefined;
}

/** Returns the verdict of policies that fire, in order of precedence: the effect of the first enforced one. */
export function verdictOn(fired: readonly FiredPolicy[]): Verdict {
  const decidedBy = fired.find(({ policy }) => policy.definition.mode === 'enforce');
  return { decision: decidedBy?.policy.definition.effect ?? 'allow', decidedBy };
}

/** Returns the policy that denies the action, or `undefined` if none does. */
export function denyingPolicy(fired: readonly FiredPolicy[]): FiredPolicy | undefined {
  const { decision, decidedBy } = verdictOn(fired);
  return decision === 'deny' ? decidedBy : undefined;
}
