import type { Actlog, Policy } from '@actlog/client';
import type { PolicyDefinition } from '@actlog/policy';
import type { PolicyFiles } from '../files/policy-files.ts';
import { AmbiguousPolicyError, definitionOf, type PolicyPlan, planPolicies } from './policy-plan.ts';

/** Options of commands that plan changes. */
export interface PlanFlags {
  readonly prune?: true;
}

/** Number of policies of one request. */
const pageSize = 200;

/**
 * Returns the changes that make the active policies of the service equal to those of files.
 *
 * @throws AmbiguousPolicyError if several active policies have the name of a policy in the files
 */
export async function readPlan(
  client: Actlog,
  files: PolicyFiles,
  { prune }: PlanFlags,
): Promise<PolicyPlan> {
  return planPolicies(files.policies, await activePolicies(client), { prune: prune ?? false });
}

/**
 * Returns the active policies of the service, as their authors wrote them.
 *
 * @throws AmbiguousPolicyError if several have the same name
 */
export async function readDefinitions(client: Actlog): Promise<PolicyDefinition[]> {
  const active = await activePolicies(client);
  for (const [name, policies] of Map.groupBy(active, (policy) => policy.name ?? '')) {
    if (policies.length > 1) throw new AmbiguousPolicyError(name, policies);
  }
  return active.map(definitionOf);
}

function activePolicies(client: Actlog): Promise<Policy[]> {
  return client.policies.list({ status: 'active', limit: pageSize }).toArray();
}
