import type { PolicyCreate } from '@actlog/protocol';

/**
 * Costs of the parts of a policy, in microseconds like the cost of a condition. They cover the worst time of a check
 * and, for patterns and rates, also the cost of keeping them ready.
 */
const costs = {
  policy: 2,
  pattern: 5,
  patternCharacter: 1 / 10,
  messageCharacter: 1 / 100,
  rate: 2500,
  schedule: 10,
} as const;

/** Cost of keeping and reading the history for a condition that reads it, in microseconds. */
export const historyCost = 2500;

/** Default limit on the combined cost of all active policies of a tenant. */
export const defaultPolicyBudget = 500_000;

/** Returns the worst-case cost of a policy per check in microseconds, without its condition. */
export function costBesideCondition({
  match = {},
  message,
  rate,
  schedule,
}: Pick<PolicyCreate, 'match' | 'message' | 'rate' | 'schedule'>): number {
  const patterns = Object.values(match).flatMap((list) => list ?? []);
  const characters = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  return Math.ceil(
    costs.policy +
      patterns.length * costs.pattern +
      characters * costs.patternCharacter +
      (message?.length ?? 0) * costs.messageCharacter +
      (rate ? costs.rate : 0) +
      (schedule ? costs.schedule : 0),
  );
}

/** Costs that determine if a policy may be created or changed. */
export interface PolicyBudget {
  /** Cost of the policy. */
  readonly cost: number;
  /** Cost of the policy before the change; omitted for a new policy. */
  readonly former?: number | undefined;
  /** Cost of all other active policies of the tenant. */
  readonly others: number;
  /** Limit on the combined cost. */
  readonly budget: number;
}

/**
 * Returns the problem and the fix if a policy exceeds the budget, else undefined. A change that does not raise the
 * cost of a policy is always accepted, because policies of an earlier release, or of a larger budget, may exceed it.
 */
export function budgetProblem({ cost, former = 0, others, budget }: PolicyBudget): string | undefined {
  if (cost <= former || others + cost <= budget) return undefined;
  return `The policy costs ${cost} and the other active policies cost ${others}, which exceeds the tenant's budget of ${budget}. Shorten its condition or its patterns, archive another policy, or ask the operator of the service to raise the quota policyCost.`;
}
