/**
 * Policy matching: decides whether a policy applies to an action, explains why, and selects the policy that takes
 * precedence. Policies match by name patterns with `*` and by conditions in CEL. The reference server and the mock use
 * this package. It does no I/O and keeps no state.
 *
 * @packageDocumentation
 */
export { approvalSubject } from './approval-subject.ts';
export { type ApprovalUse, approvalRepeatMs, isUsedUp, needsSingleUse } from './approval-use.ts';
export { type CheckedAction, checkedAction } from './checked-action.ts';
export { type Condition, maxConditionCost, parseCondition } from './condition.ts';
export { ConditionError } from './condition-error.ts';
export { budgetProblem, defaultPolicyBudget, type PolicyBudget } from './cost/policy-cost.ts';
export { Glob, matchesGlob } from './glob.ts';
export { policyMatch } from './policy-match.ts';
export { type PolicyMatch, type PolicyRule, policyRule } from './policy-rule.ts';
export { revokedAgent } from './revoked-agent.ts';
export { byPrecedence, type PolicyWeight, type Verdict, verdictOf } from './verdict.ts';
