import type { Actlog, Policy } from '@actlog/client';

type Terms = Parameters<Actlog['policies']['create']>[0];

/**
 * Makes refunds above an amount wait for a person. It can be run at every deployment: a policy of this name is
 * brought up to date instead of made twice.
 */
export async function setRefundPolicy(client: Actlog, aboveEuros: number): Promise<Policy> {
  const terms: Terms = {
    name: 'Large refunds need a person',
    effect: 'require_approval',
    match: { tools: ['refund_order'] },
    // A refund that does not say its amount counts as a large one: such a condition cannot be evaluated.
    condition: `args.amount > ${aboveEuros}`,
    approval: { timeoutSeconds: 4 * 3600, onTimeout: 'deny' },
    message: `Refunds above ${aboveEuros} euros are decided by the refund desk.`,
  };
  for await (const policy of client.policies.list({ status: 'active' })) {
    if (policy.name === terms.name) return client.policies.update(policy.id, terms);
  }
  return client.policies.create(terms);
}
