import { expect, test } from 'vitest';
import { actionText, actorText, targetHref, valueText } from '../pages/audit.tsx';

test('names the person before the key', () => {
  const key = { kind: 'key', id: 'key_1', name: 'ops' } as const;
  expect(actorText({ ...key, principal: 'ann@example.com' })).toBe('ann@example.com');
  expect(actorText({ ...key, principal: null })).toBe('ops');
  expect(actorText({ ...key, name: null, principal: null })).toBe('key_1');
  expect(actorText({ kind: 'server', id: null, name: null, principal: null })).toBe('The server');
});

test('writes actions and values as words', () => {
  expect(actionText('held_action.partially_approved')).toBe('held action partially approved');
  expect(valueText('a')).toBe('a');
  expect(valueText(['a', 'b'])).toBe('a, b');
  expect(valueText({ tools: ['a'] })).toBe('{"tools":["a"]}');
  expect(valueText(null)).toBeUndefined();
});

test('links to things that have a page', () => {
  expect(targetHref({ kind: 'policy', id: 'pol_1', name: 'p' }, 'policy.created')).toBe('#/policies/pol_1');
  expect(targetHref({ kind: 'agent', id: 'a/b', name: null }, 'agent.updated')).toBe(
    '#/sessions?agent=a%2Fb',
  );
  expect(targetHref({ kind: 'held_action', id: 'pac_1', name: null }, 'held_action.denied')).toBe(
    '#/approvals?status=denied',
  );
  expect(targetHref({ kind: 'tenant', id: 'default', name: null }, 'tenant.quotas_changed')).toBeUndefined();
});
