import type { Sent } from './send.ts';

/** Tenants that fill their budget with one kind of work each. */
export const worstTenants = ['patterns', 'conditions', 'rates', 'arguments', 'changes'] as const;

/** Name of a worst tenant. */
export type WorstTenant = (typeof worstTenants)[number];

const name = 'a'.repeat(200);
const shortName = 'a'.repeat(100);

/** Patterns that search a whole name, and none of which matches. */
function patterns(): string[] {
  return Array.from({ length: 100 }, (_, index) => `*${'a'.repeat(index % 10)}b*`);
}

/** Returns a condition whose comparisons fail for every item of a list. */
const costly = 'args.list.exists(x, x > 1 || x > 2 || x > 3)';

/** Returns the policies of a tenant, to be created until the service rejects one. */
export function worstPolicies(tenant: WorstTenant): { readonly body: object; readonly most: number } {
  const common = { name: 'worst', effect: 'allow' };
  switch (tenant) {
    case 'patterns': {
      // Every list except the last one matches, so all are searched.
      const fitting = [...patterns().slice(1), '*a'];
      const match = { agents: fitting, tools: fitting, frameworks: fitting, environments: patterns() };
      return { body: { ...common, match }, most: 1000 };
    }
    case 'rates':
      return {
        body: { ...common, mode: 'log_only', rate: { max: 1_000_000, windowSeconds: 86_400, per: 'agent' } },
        most: 1000,
      };
    case 'arguments':
      return { body: { ...common, condition: costly }, most: 10 };
    default:
      return { body: { ...common, condition: costly }, most: 1000 };
  }
}

/** Returns a generator of a tenant's requests: checks, and for `changes` every second one a change of a policy. */
export function worstRequests(tenant: WorstTenant, policyIds: readonly string[] = []): () => Sent {
  const list =
    tenant === 'arguments'
      ? Array.from({ length: 120_000 }, () => 1)
      : Array.from({ length: 490 }, () => 'a'.repeat(60));
  const action = { toolName: name, argumentsHash: 'sha256:aa', arguments: { list } };
  const check: Sent = {
    method: 'POST',
    path: '/v1/policies/check',
    body: JSON.stringify({ agentId: name, action, framework: shortName, environment: shortName }),
  };
  let index = 0;
  return () => {
    index += 1;
    const id = policyIds[index % policyIds.length];
    if (tenant !== 'changes' || index % 2 === 0 || id === undefined) return check;
    return { method: 'PATCH', path: `/v1/policies/${id}`, body: JSON.stringify({ priority: index % 1000 }) };
  };
}
