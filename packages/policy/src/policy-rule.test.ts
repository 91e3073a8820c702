import { expect, test } from 'vitest';
import { ConditionError } from './condition-error.ts';
import { policyRule } from './policy-rule.ts';

test.each([[{ effect: 'deny' }], [{ effect: 'deny', match: {}, condition: null }]] as const)(
  '%j is about every action',
  (policy) => {
    expect(policyRule(policy)).toEqual({ effect: 'deny', match: {}, condition: undefined });
  },
);

test('it takes a policy whole, as it is posted', () => {
  const policy = {
    name: 'Large refunds',
    effect: 'require_approval' as const,
    match: { tools: ['refund_*'] },
    condition: 'args.amount > 500',
    approval: { timeoutSeconds: 60, onTimeout: 'deny' as const },
  };
  expect(policyRule(policy)).toEqual({
    effect: 'require_approval',
    match: { tools: ['refund_*'] },
    condition: { holds: expect.any(Function) },
  });
});

test('a condition that cannot be taken is refused', () => {
  expect(() => policyRule({ effect: 'allow', condition: 'args.amount >' })).toThrow(ConditionError);
  expect(() => policyRule({ effect: 'allow', condition: '' })).toThrow('condition cannot be taken:');
});
