import type { CheckedAction } from './checked-action.ts';
import { evaluationProblem } from './evaluation-problem.ts';
import { namedFields } from './named-fields.ts';
import type { PolicyRule } from './policy-rule.ts';

/**
 * Returns the reason why a rule applies to an action, for the reader of a check's response; undefined if it does not
 * apply. A condition that cannot be evaluated counts as a match for deny and require_approval and as no match for
 * allow, so an error never permits an action. Never throws.
 */
export function matchPolicy(rule: PolicyRule, action: CheckedAction): string | undefined {
  const { match, effect, condition } = rule;
  const reasons: string[] = [];
  for (const [name, patterns, value] of namedFields(match, action)) {
    if (patterns === undefined) continue;
    const glob = value === undefined ? undefined : patterns.find((one) => one.matches(value));
    if (glob === undefined) return undefined;
    reasons.push(`the ${name} matches "${glob.pattern}"`);
  }
  if (condition) {
    try {
      if (!condition.holds(action)) return undefined;
      reasons.push('the condition holds');
    } catch (error) {
      if (effect === 'allow') return undefined;
      reasons.push(
        `the condition cannot be evaluated (${evaluationProblem(error)}), which counts as a match`,
      );
    }
  }
  return reasons.join('; ') || 'the policy applies to every action';
}
