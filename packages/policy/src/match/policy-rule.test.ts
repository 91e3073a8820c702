import { expect, test } from 'vitest';
import { ConditionError } from './condition-error.ts';
import { Glob } from './glob.ts';
import { policyRule } from './match-policy.ts';

test.each([[{ effect: 'deny' }], [{ effect: 'deny', match: {}, condition: null }]] as const)(
  '%j applies to every action',
  (policy) => {
    expect(policyRule(policy)).toEqual({
      effect: 'deny',
      match: {},
      condition: undefined,
      readsAgent: false,
      cost: 2,
    });
  },
);

test('accepts a complete policy as sent to the API', () => {
  const policy = {
    name: 'Large refunds',
    effect: 'require_approval' as const,
    match: { tools: ['refund_*'] },
    condition: 'args.amount > 500',
    approval: { timeoutSeconds: 60, onTimeout: 'deny' as const },
  };
  expect(policyRule(policy)).toEqual({
    effect: 'require_approval',
    match: { tools: [new Glob('refund_*')] },
    condition: { cost: 12, holds: expect.any(Function) },
    readsAgent: false,
    cost: 20,
  });
});

test('throws for an invalid condition', () => {
  expect(() => policyRule({ effect: 'allow', condition: 'args.amount >' })).toThrow(ConditionError);
  expect(() => policyRule({ effect: 'allow', condition: '' })).toThrow('condition: ');
});
