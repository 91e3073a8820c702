import type { Actlog, Policy } from '@actlog/client';

type Terms = Parameters<Actlog['policies']['create']>[0];

/**
 * Requires approval for refunds above an amount. Can run at every deployment: it updates an existing policy of this
 * name.
 */
export async function setRefundPolicy(client: Actlog, aboveEuros: number): Promise<Policy> {
  const terms: Terms = {
    name: 'Large refunds need approval',
    effect: 'require_approval',
    match: { tools: ['refund_order'] },
    // A refund without an amount counts as a large one, because the condition cannot be evaluated.
    condition: `args.amount > ${aboveEuros}`,
    approval: { timeoutSeconds: 4 * 3600, onTimeout: 'deny' },
    message: `Refunds above ${aboveEuros} euros are decided by the refund desk.`,
  };
  for await (const policy of client.policies.list({ status: 'active' })) {
    if (policy.name === terms.name) return client.policies.update(policy.id, terms);
  }
  return client.policies.create(terms);
}
