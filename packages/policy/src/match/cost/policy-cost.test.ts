import { expect, test } from 'vitest';
import { policyRule } from '../match-policy.ts';
import { budgetProblem, defaultPolicyBudget } from './condition-cost.ts';

test('a thousand typical policies use less than a fifth of the budget', () => {
  const { cost } = policyRule({
    effect: 'require_approval',
    match: {
      agents: ['billing-*'],
      tools: ['refund_*', 'charge_card', 'payments.*'],
      environments: ['prod'],
    },
    condition: 'has(args.amount) && args.amount > 500.0 && args.currency == "EUR"',
    message: 'A person looks at amounts over 500 EUR first. Tell the customer that it takes up to a day.',
  });
  expect(cost * 1000).toBeLessThan(defaultPolicyBudget / 5);
});

test.each([
  ['a pattern', { match: { tools: ['a', 'b'] } }, { match: { tools: ['a', 'b', 'c'] } }],
  ['its length', { match: { tools: ['a*'] } }, { match: { tools: [`${'a'.repeat(100)}*`] } }],
  ['a condition', {}, { condition: 'args.amount > 500' }],
  ['a message', {}, { message: 'a'.repeat(1000) }],
  ['a rate', {}, { rate: { max: 1, windowSeconds: 60, per: 'agent' as const } }],
])('%s adds to the cost', (_what, less, more) => {
  expect(policyRule({ effect: 'deny', ...less }).cost).toBeLessThan(
    policyRule({ effect: 'deny', ...more }).cost,
  );
});

test('accepts a policy up to the whole budget', () => {
  expect(budgetProblem({ cost: 10, others: 90, budget: 100 })).toBeUndefined();
  expect(budgetProblem({ cost: 11, others: 90, budget: 100 })).toBe(
    "The policy costs 11 and the other active policies cost 90, which exceeds the tenant's budget of 100. Shorten its condition or its patterns, archive another policy, or ask the operator of the service to raise the quota policyCost.",
  );
});

test('accepts a change over the budget if it does not raise the cost', () => {
  const beyond = { others: 200, budget: 100 };
  expect(budgetProblem({ cost: 10, former: 10, ...beyond })).toBeUndefined();
  expect(budgetProblem({ cost: 11, former: 10, ...beyond })).toContain('The policy costs 11');
});
