import { policyDefinition, policyRule } from '@actlog/policy';
import type { PolicyCreate } from '@actlog/protocol';
import { validationError } from '../lib/api-error.ts';
import { type CompiledPolicy, compilePolicy } from '../policy/compiled-policy.ts';
import { requireConsistent } from '../resources/policies.ts';
import type { Services } from '../services.ts';
import { readQuotas } from '../storage/stores/quota-store.ts';

/** Policies to try. */
export interface Draft {
  readonly policies: readonly PolicyCreate[];
  /** `merge` tries them with the active policies, instead of those with the same names; `replace` tries them alone. */
  readonly mode: 'merge' | 'replace';
}

/**
 * Returns the policies that would be active with a draft. Those of the draft have ids such as `draft_0`.
 *
 * @throws ApiError `VALIDATION_ERROR` for a contradiction, an invalid condition, or policies that cost too much together.
 */
export async function draftPolicies(
  services: Services,
  tenantId: number,
  { policies, mode }: Draft,
): Promise<CompiledPolicy[]> {
  const draft = policies.map((policy, index) => {
    const definition = policyDefinition(policy);
    requireConsistent(definition, undefined, `policies.${index}.`);
    const times = { created_ms: 0, updated_ms: 0, archived_ms: null };
    return compilePolicy({ id: `draft_${index}`, status: 'active', definition, version: 0, ...times });
  });
  const names = new Set(draft.map(({ definition }) => definition.name));
  const { budget, active } = await services.storage.read(tenantId, async (db) => ({
    budget: (await readQuotas(db, tenantId, services.quotas)).policyCost,
    active: (await services.policySets.of(db, tenantId)).policies,
  }));
  const kept = mode === 'merge' ? active.filter(({ definition }) => !names.has(definition.name)) : [];
  const cost = draft.reduce((sum, { definition }) => sum + policyRule(definition).cost, 0);
  if (budget !== null && cost > budget) {
    throw validationError(
      'policies',
      'too_costly',
      `cost ${cost}, which exceeds the tenant's budget of ${budget}`,
    );
  }
  return [...kept, ...draft];
}
