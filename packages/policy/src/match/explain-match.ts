import type { CheckedAction } from './checked-action.ts';
import type { PolicyHistory } from './condition.ts';
import { evaluationProblem, matchPolicy, namedFields } from './match-policy.ts';
import type { PolicyRule } from './policy-rule.ts';

/** Outcome of matching a rule against an action. */
export interface MatchExplanation {
  /** `true` if the rule applies. */
  readonly matches: boolean;
  /** Reason why it applies or does not apply. */
  readonly why: string;
}

/**
 * Returns if a rule applies to an action, and why or why not. Slower than {@link matchPolicy}, which gives a reason for
 * matches only. Never throws.
 *
 * @param history - history for a condition that reads it; without it, such a condition cannot be evaluated
 */
export function explainMatch(
  rule: PolicyRule,
  action: CheckedAction,
  history?: PolicyHistory,
): MatchExplanation {
  const why = matchPolicy(rule, action, history);
  return why === undefined
    ? { matches: false, why: mismatchOf(rule, action, history) }
    : { matches: true, why };
}

/** Returns the parts of a rule that match, and the first one that does not. */
function mismatchOf(
  { match, condition }: PolicyRule,
  action: CheckedAction,
  history: PolicyHistory | undefined,
): string {
  const reasons: string[] = [];
  for (const [name, patterns, value] of namedFields(match, action)) {
    if (patterns === undefined) continue;
    if (value === undefined) return `the action has no ${name}`;
    const glob = patterns.find((one) => one.matches(value));
    if (glob === undefined) {
      return `the ${name} does not match ${patterns.map(({ pattern }) => `"${pattern}"`).join(', ')}`;
    }
    reasons.push(`the ${name} matches "${glob.pattern}"`);
  }
  try {
    condition?.holds(action, history);
    reasons.push('the condition does not hold');
  } catch (error) {
    const problem = evaluationProblem(error);
    reasons.push(`the condition cannot be evaluated (${problem}), which counts as no match for allow`);
  }
  return reasons.join('; ');
}
