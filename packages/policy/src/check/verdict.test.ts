import type { PolicyEffect } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { byPrecedence, type PolicyWeight, verdictOf } from './verdict.ts';

const weight = (effect: PolicyEffect, priority = 0, mode: PolicyWeight['mode'] = 'enforce') => ({
  effect,
  priority,
  mode,
});

test('sorts policies by effect, then by priority, and otherwise keeps their order', () => {
  const first = weight('deny', -5);
  const policies = [
    weight('allow', 9),
    weight('require_approval'),
    first,
    weight('deny', 3),
    weight('allow', 9),
  ];
  const sorted = [...policies].sort(byPrecedence);
  expect(sorted).toEqual([policies[3], first, policies[1], policies[0], policies[4]]);
  expect(sorted[3]).toBe(policies[0]);
});

test('sorts policies with onTimeout allow last at the same priority', () => {
  const approval = (onTimeout: 'allow' | 'deny') => ({
    ...weight('require_approval'),
    approval: { onTimeout },
  });
  const [lenient, strict, silent] = [approval('allow'), approval('deny'), weight('require_approval')];
  expect([lenient, strict, silent].sort(byPrecedence)).toEqual([strict, silent, lenient]);
  const first = { ...lenient, priority: 1 };
  expect([strict, first].sort(byPrecedence)).toEqual([first, strict]);
});

test.each([
  ['nothing', [], 'allow', undefined],
  ['the first policy', [weight('deny'), weight('allow')], 'deny', 0],
  [
    'the first enforced policy',
    [weight('deny', 0, 'log_only'), weight('require_approval')],
    'require_approval',
    1,
  ],
  ['no log_only policy', [weight('deny', 0, 'log_only')], 'allow', undefined],
])('%s decides', (_, fired, decision, place) => {
  expect(verdictOf(fired, (one) => one)).toEqual({
    decision,
    decidedBy: place === undefined ? undefined : fired[place],
  });
});
