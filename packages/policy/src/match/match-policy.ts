import type { PolicyCreate, PolicyEffect } from '@actlog/protocol';
import type { CheckedAction } from './checked-action.ts';
import { type Condition, maxConditionCost, type PolicyHistory, parseCondition } from './condition.ts';
import { costBesideCondition, historyCost } from './cost/condition-cost.ts';
import { Glob } from './glob.ts';

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
 * Returns the first line of an error, truncated: later lines quote the condition, and long strings come from the
 * action.
 */
function evaluationProblem(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n', 1);
  const line = first.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return line.length > longestProblem ? `${line.slice(0, longestProblem)}…` : line;
}

/** A name of an action, with the patterns for it; undefined patterns match anything. */
type NamedField = readonly [name: string, patterns: readonly Glob[] | undefined, value: string | undefined];

/** Returns the names of an action with a rule's patterns, in the order in which reasons name them. */
function namedFields(match: PolicyMatch, action: CheckedAction): readonly NamedField[] {
  return [
    ['agent', match.agents, action.actsFor ?? action.agentId],
    ['tool', match.tools, action.toolName],
    ['framework', match.frameworks, action.framework],
    ['environment', match.environments, action.environment],
  ];
}

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

/** Patterns for the names of an action. An omitted list matches any name and also no name. */
export interface PolicyMatch {
  readonly agents?: readonly Glob[] | undefined;
  readonly tools?: readonly Glob[] | undefined;
  readonly frameworks?: readonly Glob[] | undefined;
  readonly environments?: readonly Glob[] | undefined;
}

/** The part of a policy that decides whether it applies to an action, ready to be evaluated. */
export interface PolicyRule {
  readonly match: PolicyMatch;
  /** Effect of the policy; determines the result if the condition cannot be evaluated. */
  readonly effect: PolicyEffect;
  /** Condition that must also hold; undefined for a rule without one. */
  readonly condition: Condition | undefined;
  /** `true` if the agent's id determines whether it applies. */
  readonly readsAgent: boolean;
  /** Upper bound of the policy's cost per check, in microseconds of one core. */
  readonly cost: number;
}

/**
 * Compiles a policy, as sent to `POST /v1/policies` or returned by the API, into a rule. Without `match`, the rule
 * applies to every action unless it has a condition.
 *
 * @param maxCost - maximum cost of its condition, by default {@link maxConditionCost}
 * @throws {@link ConditionError} for an invalid condition.
 */
export function policyRule(
  policy: Pick<PolicyCreate, 'effect' | 'match' | 'condition' | 'message' | 'rate' | 'schedule'>,
  maxCost: number = maxConditionCost,
): PolicyRule {
  const { effect, match = {}, condition: text } = policy;
  const condition = text == null ? undefined : parseCondition(text, maxCost);
  const lists = Object.entries(match).map(([name, patterns]) => [
    name,
    patterns?.map((one) => new Glob(one)),
  ]);
  return {
    match: Object.fromEntries(lists),
    effect,
    condition,
    readsAgent: match.agents !== undefined || /\bagent\b/.test(text ?? ''),
    cost: costBesideCondition(policy) + (condition?.cost ?? 0) + (condition?.history ? historyCost : 0),
  };
}
