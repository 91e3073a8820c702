import { type PolicyRule, policyRule } from '@actlog/policy';
import type { StoredPolicy } from '../storage/policy-store.ts';

/** A policy ready to be asked. */
export interface CompiledPolicy extends StoredPolicy {
  readonly rule: PolicyRule;
}

/** Makes a stored policy ready to be asked. @throws ConditionError, which a stored condition does not. */
export function compilePolicy(policy: StoredPolicy): CompiledPolicy {
  return { ...policy, rule: policyRule(policy.definition) };
}
