import { ConditionError, type PolicyRule, policyRule } from '@actlog/policy';
import type { StoredPolicy } from '../storage/policy-store.ts';

/** A policy ready to be asked. */
export interface CompiledPolicy extends StoredPolicy {
  readonly rule: PolicyRule;
}

/**
 * Makes a stored policy ready to be asked. A condition that a former release took and this one does not cannot be told,
 * and what that means is the same as for any other: a policy that denies or holds still does.
 */
export function compilePolicy(policy: StoredPolicy): CompiledPolicy {
  return { ...policy, rule: ruleOf(policy.definition) };
}

function ruleOf(definition: StoredPolicy['definition']): PolicyRule {
  try {
    return policyRule(definition);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return { ...policyRule({ ...definition, condition: null }), condition: { holds: () => refuse(error) } };
  }
}

function refuse(error: ConditionError): never {
  throw error;
}
