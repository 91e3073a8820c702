/**
 * Tells whether a policy is about an action, and why: names with `*`, and conditions in CEL; and which of those that
 * are decides. The reference server and the mock match with it. It does no I/O and keeps nothing.
 *
 * @packageDocumentation
 */
export { type CheckedAction, checkedAction } from './checked-action.ts';
export { type Condition, parseCondition } from './condition.ts';
export { ConditionError } from './condition-error.ts';
export { matchesGlob } from './glob.ts';
export { policyMatch } from './policy-match.ts';
export { type PolicyMatch, type PolicyRule, policyRule } from './policy-rule.ts';
export { revokedAgent } from './revoked-agent.ts';
export { byPrecedence, type PolicyWeight, type Verdict, verdictOf } from './verdict.ts';
