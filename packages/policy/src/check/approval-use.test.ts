import { expect, test } from 'vitest';
import { approvalRepeatMs, isUsedUp, needsSingleUse } from './approval-use.ts';
import type { FiredPolicy, PolicyDefinition } from './fired-policy.ts';
import { agentRevoked } from './revoked-agent.ts';

test.each([
  ['the same check at the end of the repeat window', 'a', 'a', approvalRepeatMs, false],
  ['the same check later', 'a', 'a', approvalRepeatMs + 1, true],
  ['another check', 'a', 'b', 0, true],
  ['a check without an actionId', 'a', undefined, 0, true],
  ['any check after one without an actionId', null, 'a', 0, true],
  ['a repeat of a check without an actionId', null, undefined, 0, true],
])('isUsedUp with %s: %#', (_, usedBy, actionId, laterMs, expected) => {
  expect(isUsedUp({ actionId: usedBy, usedMs: 1000 }, actionId, 1000 + laterMs)).toBe(expected);
});

test('an approval is single-use if any enforced policy that holds the action requires it', () => {
  const weight = (fields: Partial<PolicyDefinition> = {}): FiredPolicy => {
    const approval = { timeoutSeconds: 900, onTimeout: 'deny', singleUse: true } as const;
    const { definition } = agentRevoked.policy;
    const changed = { ...definition, effect: 'require_approval' as const, approval, ...fields };
    return { policy: { id: 'pol_1', definition: changed }, why: '' };
  };
  const plain = weight({ approval: { timeoutSeconds: 900, onTimeout: 'deny' } });
  const needs = (...fired: FiredPolicy[]) => needsSingleUse(fired);
  expect(needs(plain, weight())).toBe(true);
  expect(needs(plain, weight({ approval: null }))).toBe(false);
  expect(needs(plain, weight({ mode: 'log_only' }))).toBe(false);
});
