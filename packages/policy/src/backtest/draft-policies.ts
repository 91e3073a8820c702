import type { DefinedPolicy, FiredPolicy } from '../check/fired-policy.ts';
import { byPrecedence } from '../check/precedence.ts';
import { scheduledPolicies } from '../check/schedule.ts';
import type { CheckedAction } from '../match/checked-action.ts';
import type { PolicyHistory } from '../match/condition.ts';
import { matchPolicy } from '../match/match-policy.ts';
import { type PolicyRule, policyRule } from '../match/policy-rule.ts';

/** A policy of a draft with its compiled rule. */
export interface DraftPolicy {
  readonly policy: DefinedPolicy;
  readonly rule: PolicyRule;
}

/**
 * Compiles the policies of a draft, and sorts them by precedence as the service does: those with the same precedence by
 * their ids.
 *
 * @throws ConditionError for an invalid condition. No condition is too costly.
 */
export function compileDraft(policies: readonly DefinedPolicy[]): readonly DraftPolicy[] {
  return policies
    .toSorted(
      (left, right) => byPrecedence(left.definition, right.definition) || (left.id < right.id ? -1 : 1),
    )
    .map((policy) => ({ policy, rule: policyRule(policy.definition, Number.POSITIVE_INFINITY) }));
}

/** Circumstances of an action that policies depend on. */
export interface Circumstances {
  readonly history: PolicyHistory;
  /** Time of the action, in Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Returns the policies of a draft whose names and condition match an action and that apply at its time, in order of
 * precedence.
 */
export function matchingPolicies(
  draft: readonly DraftPolicy[],
  action: CheckedAction,
  { history, atMs }: Circumstances,
): FiredPolicy[] {
  const matching: FiredPolicy[] = [];
  for (const { policy, rule } of draft) {
    const why = matchPolicy(rule, action, history);
    if (why !== undefined) matching.push({ policy, why });
  }
  return [...scheduledPolicies(matching, atMs)];
}
