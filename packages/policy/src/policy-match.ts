import type { CheckedAction } from './checked-action.ts';
import { matchesGlob } from './glob.ts';
import type { PolicyRule } from './policy-rule.ts';

/** The most characters of what went wrong in a condition that become part of a reason. */
const longestProblem = 200;

/** What turns the order of a text, hides in it or breaks its lines: a value that an error quotes is the model's own. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

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
      reasons.push(`the condition cannot be told (${problemOf(error)}), which counts as met`);
    }
  }
  return reasons.join('; ') || 'the policy is about every action';
}

/** What went wrong, in the first line of the error: the rest quotes the condition, and a text that is long the action. */
function problemOf(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n', 1);
  const line = first.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return line.length > longestProblem ? `${line.slice(0, longestProblem)}…` : line;
}
