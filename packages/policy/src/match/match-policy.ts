import type { CheckedAction } from './checked-action.ts';
import type { PolicyHistory } from './condition.ts';
import type { Glob } from './glob.ts';
import type { PolicyMatch, PolicyRule } from './policy-rule.ts';

/**
 * Returns the reason why a rule applies to an action, for the reader of a check's response; undefined if it does not
 * apply. A condition that cannot be evaluated counts as a match for deny and require_approval and as no match for
 * allow, so an error never permits an action. Never throws.
 *
 * For an agent that runs inside others, a rule that denies or holds also applies if it applies to one of them, and a rule
 * that allows only if it applies to all of them: the name of an inner agent never permits more.
 *
 * @param history - history for a condition that reads it; without it, such a condition cannot be evaluated
 */
export function matchPolicy(
  rule: PolicyRule,
  action: CheckedAction,
  history?: PolicyHistory,
): string | undefined {
  const own = matchAlone(rule, action, history);
  const above = rule.readsAgent ? (action.parentAgentIds ?? []) : [];
  if (above.length === 0) return own;
  const reasonFor = (actsFor: string) => matchAlone(rule, { ...action, actsFor }, history);
  if (rule.effect === 'allow') return above.every((id) => reasonFor(id) !== undefined) ? own : undefined;
  if (own !== undefined) return own;
  for (const id of above) {
    const reason = reasonFor(id);
    if (reason !== undefined) return `${reason}; the agent runs inside ${JSON.stringify(id)}`;
  }
  return undefined;
}

/** Returns the reason why a rule applies to the agent, or to one above it, regardless of the others. */
function matchAlone(rule: PolicyRule, action: CheckedAction, history?: PolicyHistory): string | undefined {
  const { effect, condition } = rule;
  const reasons = matchingNames(rule, action);
  if (!reasons) return undefined;
  if (condition) {
    try {
      if (!condition.holds(action, history)) return undefined;
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

/** `true` if the names of an action match a rule whose condition reads the history: only then, the history is needed. */
export function needsHistory(rule: PolicyRule, action: CheckedAction): boolean {
  if (rule.condition?.history === undefined) return false;
  const above = rule.readsAgent ? (action.parentAgentIds ?? []) : [];
  return [undefined, ...above].some((actsFor) => matchingNames(rule, { ...action, actsFor }) !== undefined);
}

/** Returns the reasons why the names of an action match; undefined if they do not. */
function matchingNames({ match }: PolicyRule, action: CheckedAction): string[] | undefined {
  const reasons: string[] = [];
  for (const [name, patterns, value] of namedFields(match, action)) {
    if (patterns === undefined) continue;
    const glob = value === undefined ? undefined : patterns.find((one) => one.matches(value));
    if (glob === undefined) return undefined;
    reasons.push(`the ${name} matches "${glob.pattern}"`);
  }
  return reasons;
}

/** Maximum length of an evaluation error within a reason, in characters. */
const longestProblem = 200;

/** Characters that reorder, hide or break text. An error can quote a value that the model controls. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the first line of an error, truncated: later lines quote the condition, and long texts come from
 * the action.
 */
export function evaluationProblem(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n', 1);
  const line = first.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return line.length > longestProblem ? `${line.slice(0, longestProblem)}…` : line;
}

/** A name of an action, with the patterns for it; undefined patterns match anything. */
type NamedField = readonly [name: string, patterns: readonly Glob[] | undefined, value: string | undefined];

/** Returns the names of an action with a rule's patterns, in the order in which reasons name them. */
export function namedFields(match: PolicyMatch, action: CheckedAction): readonly NamedField[] {
  return [
    ['agent', match.agents, action.actsFor ?? action.agentId],
    ['tool', match.tools, action.toolName],
    ['framework', match.frameworks, action.framework],
    ['environment', match.environments, action.environment],
  ];
}
