import { ConditionError, type PolicyRule, policyRule } from '@actlog/policy';
import type { StoredPolicy } from '../storage/policies/policy-store.ts';

/** A policy that can be evaluated. */
export interface CompiledPolicy extends StoredPolicy {
  /** Created on first access, because parsing a thousand conditions takes tens of milliseconds. */
  readonly rule: PolicyRule;
}

/**
 * Compiles a stored policy, whatever its condition costs, because earlier releases had no limit. A condition that only
 * an earlier release accepted cannot be evaluated, so the policy still denies or holds, as for any failing condition.
 */
export function compilePolicy(policy: StoredPolicy): CompiledPolicy {
  let rule: PolicyRule | undefined;
  return {
    ...policy,
    get rule() {
      rule ??= ruleOf(policy.definition);
      return rule;
    },
  };
}

function ruleOf(definition: StoredPolicy['definition']): PolicyRule {
  try {
    return policyRule(definition, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return {
      ...policyRule({ ...definition, condition: null }),
      condition: { cost: 0, history: undefined, holds: () => refuse(error) },
    };
  }
}

function refuse(error: ConditionError): never {
  throw error;
}
