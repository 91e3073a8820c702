import type { PolicyEffect } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { byPrecedence, type PolicyWeight } from './fired-policy.ts';

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

test('sorts fallbacks, which deny or hold with the lowest priority, after all others', () => {
  const [deny, hold, allow, last] = [
    weight('deny', -1000),
    weight('require_approval', -1000),
    weight('allow'),
    weight('allow', -1000),
  ];
  expect([hold, deny, last, allow].sort(byPrecedence)).toEqual([allow, last, deny, hold]);
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
