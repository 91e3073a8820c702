import type { PolicyEffect } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { agentRevoked, type FiredPolicy, verdictOn } from './fired-policy.ts';

function policy(effect: PolicyEffect, priority = 0, mode: 'enforce' | 'log_only' = 'enforce'): FiredPolicy {
  const definition = { ...agentRevoked.policy.definition, effect, priority, mode };
  return { policy: { id: `pol_${effect}`, definition }, why: '' };
}

test.each([
  ['nothing', [], 'allow', undefined],
  ['the first policy', [policy('deny'), policy('allow')], 'deny', 0],
  [
    'the first enforced policy',
    [policy('deny', 0, 'log_only'), policy('require_approval')],
    'require_approval',
    1,
  ],
  ['no log_only policy', [policy('deny', 0, 'log_only')], 'allow', undefined],
])('%s decides', (_, fired, decision, place) => {
  expect(verdictOn(fired)).toEqual({
    decision,
    decidedBy: place === undefined ? undefined : fired[place],
  });
});
