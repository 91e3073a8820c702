import type { CheckedAction } from './checked-action.ts';
import { matchesGlob } from './glob.ts';
import type { PolicyRule } from './policy-rule.ts';

/**
 * Why a rule is about an action, in words for whoever reads the answer to a check, or undefined where it is not. A
 * condition that cannot be told counts as met for deny and require_approval, and as not met for allow: an error never
 * opens a door. Never throws.
 */
export function policyMatch(rule: PolicyRule, action: CheckedAction): string | undefined {
  const { match, effect, condition } = rule;
  const reasons: string[] = [];
  const fields = [
    ['agent', match.agents, action.agentId],
    ['tool', match.tools, action.toolName],
    ['framework', match.frameworks, action.framework],
    ['environment', match.environments, action.environment],
  ] as const;
  for (const [name, patterns, value] of fields) {
    if (patterns === undefined) continue;
    const pattern = value === undefined ? undefined : patterns.find((one) => matchesGlob(one, value));
    if (pattern === undefined) return undefined;
    reasons.push(`the ${name} fits "${pattern}"`);
  }
  if (condition) {
    try {
      if (!condition.holds(action)) return undefined;
      reasons.push('the condition holds');
    } catch (error) {
      if (effect === 'allow') return undefined;
      // Only the first line: the rest quotes the condition.
      const problem = (error as Error).message.split('\n', 1)[0];
      reasons.push(`the condition cannot be told (${problem}), which counts as met`);
    }
  }
  return reasons.join('; ') || 'the policy is about every action';
}
