import type { PolicyCreate, PolicyEffect } from '@actlog/protocol';
import { type Condition, maxConditionCost, parseCondition } from './condition.ts';
import { costBesideCondition, historyCost } from './cost/policy-cost.ts';
import { Glob } from './glob.ts';

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
