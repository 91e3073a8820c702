import type { PolicyCreate, PolicyEffect } from '@actlog/protocol';
import { type Condition, parseCondition } from './condition.ts';

/** Whom a rule is about, as patterns in which `*` stands for any run of characters. A list left out asks nothing. */
export interface PolicyMatch {
  readonly agents?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly frameworks?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
}

/** What decides whether a policy is about an action, ready to be asked. */
export interface PolicyRule {
  readonly match: PolicyMatch;
  /** Says what becomes of a condition that cannot be told. */
  readonly effect: PolicyEffect;
  /** What must hold besides; undefined for a rule without a condition. */
  readonly condition: Condition | undefined;
}

/**
 * The rule of a policy, as it is written (`POST /v1/policies`) or read. Without `match` it is about every action,
 * unless a condition says otherwise.
 *
 * @throws ConditionError for a condition that cannot be taken.
 */
export function policyRule(policy: Pick<PolicyCreate, 'effect' | 'match' | 'condition'>): PolicyRule {
  const { effect, match = {}, condition } = policy;
  return { match, effect, condition: condition == null ? undefined : parseCondition(condition) };
}
