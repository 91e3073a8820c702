import { budgetProblem, type PolicyDefinition, policyRule } from '@actlog/policy';
import { PolicyCostError } from '../quota/room.ts';
import { type DeploymentQuotas, readQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { costOf, PolicySets } from './policy-set.ts';

/** Source of the costs of a tenant's policies and of its budget. */
interface BudgetSource {
  readonly db: Database;
  readonly tenantId: number;
  readonly policySets: PolicySets;
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
}

/**
 * Checks that a policy fits into the tenant's budget. Other transactions must not write policies of the tenant at the
 * same time.
 *
 * @param replacedId - id of the policy to replace; `undefined` for a new one
 * @throws PolicyCostError 429.
 */
export async function requirePolicyBudget(
  { db, tenantId, policySets, quotas }: BudgetSource,
  definition: PolicyDefinition,
  replacedId?: string,
): Promise<void> {
  const { policyCost: budget } = await readQuotas(db, tenantId, quotas);
  if (budget === null) return;
  const { cost } = policyRule(definition, Number.POSITIVE_INFINITY);
  const set = await policySets.of(db, tenantId);
  const former = set.policies.find(({ id }) => id === replacedId)?.rule.cost;
  const problem = budgetProblem({ cost, former, others: costOf(set, replacedId), budget });
  if (problem !== undefined) throw new PolicyCostError(problem);
}

/** Returns the maximum cost per check of a tenant's active policies, in microseconds. */
export async function activePolicyCost(db: Database, tenantId: number): Promise<number> {
  return costOf(await new PolicySets().of(db, tenantId));
}
