import { expect, it } from 'vitest';
import { checkedAction } from '../match/checked-action.ts';
import { agentRevoked } from './fired-policy.ts';
import { exceededRates, type Rate, rateWindows } from './rate.ts';

const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };

function windowOf(per: Rate['per'], sessionId?: string, nowMs = 10_000_500) {
  const rate = { max: 2, windowSeconds: 60, per };
  const policy = { id: 'pol_1', definition: { ...agentRevoked.policy.definition, rate } };
  const checked = checkedAction({ agentId: 'agent', action, ...(sessionId && { sessionId }) });
  return rateWindows([{ policy, why: '' }, agentRevoked], checked, nowMs);
}

it.each([
  ['agent', 's', 'agent:agent'],
  ['session', 's', 'session:s'],
  ['session', undefined, 'agent:agent'],
  ['tenant', 's', 'tenant'],
] as const)('counts per %s in the session %s for %s', (per, sessionId, subject) => {
  expect(windowOf(per, sessionId)).toMatchObject([{ subject }]);
});

it('counts in slices of a sixtieth of the window', () => {
  expect(windowOf('agent')).toMatchObject([
    { sliceMs: 10_000_000, sinceMs: 10_000_500 - 61_000, untilMs: 10_000_500 + 120_000 },
  ]);
});

it('is exceeded by the action after the last one allowed, which counts once', () => {
  const windows = windowOf('agent');
  expect(exceededRates(windows, new Map([['pol_1 agent:agent', 1]]), false).size).toBe(0);
  expect(exceededRates(windows, new Map([['pol_1 agent:agent', 2]]), true).size).toBe(0);
  expect([...exceededRates(windows, new Map([['pol_1 agent:agent', 2]]), false)]).toEqual([
    ['pol_1', 'it is action 3 in 60 seconds, and the limit is 2'],
  ]);
});

it('counts an inner agent for the agents above it, and is exceeded by any of them', () => {
  const rate = { max: 2, windowSeconds: 60, per: 'agent' } as const;
  const policy = { id: 'pol_1', definition: { ...agentRevoked.policy.definition, rate } };
  const inner = checkedAction({ agentId: 'inner', parentAgentIds: ['outer', 'root', 'outer'], action });
  const windows = rateWindows([{ policy, why: '' }], inner, 10_000_500);
  expect(windows.map(({ subject }) => subject)).toEqual(['agent:inner', 'agent:outer', 'agent:root']);
  expect(exceededRates(windows, new Map([['pol_1 agent:inner', 1]]), false).size).toBe(0);
  expect(exceededRates(windows, new Map([['pol_1 agent:root', 2]]), false).size).toBe(1);
});
