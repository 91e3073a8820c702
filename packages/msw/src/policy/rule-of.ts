import { ConditionError, type PolicyRule, policyRule } from '@actlog/policy';
import { invalid } from '../service/api-error.ts';
import type { PolicyRecord } from '../tenant/records.ts';

/** Cache of compiled rules. Records are never changed, only replaced. */
const read = new WeakMap<PolicyRecord, PolicyRule>();

/**
 * Returns the compiled rule of a policy.
 *
 * @throws ApiError `VALIDATION_ERROR` for a condition that the reference server would reject.
 */
export function ruleOf(policy: PolicyRecord): PolicyRule {
  const known = read.get(policy);
  if (known) return known;
  try {
    const rule = policyRule(policy);
    read.set(policy, rule);
    return rule;
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw invalid('condition', 'invalid_condition', error.problem);
  }
}
