import { expect, test } from 'vitest';
import { type ApprovalGrant, coveringGrant, type GrantedCheck } from './approval-rules.ts';
import { agentRevoked, type FiredPolicy, type PolicyDefinition } from './fired-policy.ts';

function policy(
  id: string,
  version: number | undefined,
  fields: Partial<PolicyDefinition> = {},
): FiredPolicy {
  const definition = {
    ...agentRevoked.policy.definition,
    effect: 'require_approval' as const,
    ...fields,
  };
  return { policy: { id, version, definition }, why: '' };
}

const grant: ApprovalGrant = {
  id: 'grt_1',
  agentId: 'billing',
  sessionId: 'thread-1',
  principal: null,
  for: 'tool',
  toolName: 'refund',
  subject: 'this refund',
  policies: [
    { id: 'pol_1', version: 3 },
    { id: 'pol_2', version: 1 },
  ],
  grantedBy: 'key_a',
  expiresMs: 2000,
  remainingUses: null,
  isRevoked: false,
};

const checked: GrantedCheck = {
  check: {
    agentId: 'billing',
    sessionId: 'thread-1',
    action: { toolName: 'refund', argumentsHash: 'sha256:bb' },
  },
  subject: () => 'another refund',
  fired: [policy('pol_1', 3)],
  usedGrantId: null,
  nowMs: 1000,
};

function covers(changes: Partial<ApprovalGrant>, fields: Partial<GrantedCheck> = {}): boolean {
  return coveringGrant([{ ...grant, ...changes }], { ...checked, ...fields }) !== undefined;
}

test('covers a call of the same tool that the same policies hold', () => {
  expect(covers({})).toBe(true);
  expect(covers({}, { fired: [policy('pol_1', 3), policy('pol_2', 1)] })).toBe(true);
});

test('covers only the same action if it is for the action', () => {
  expect(covers({ for: 'action' })).toBe(false);
  expect(covers({ for: 'action' }, { subject: () => 'this refund' })).toBe(true);
});

test.each([
  ['another agent', { agentId: 'support' }],
  ['another session', { sessionId: 'thread-2' }],
  ['another tool', { toolName: 'transfer' }],
  ['another principal', { principal: 'ada' }],
  ['a grant that has ended', { expiresMs: 1000 }],
  ['a revoked grant', { isRevoked: true }],
  ['a grant without uses left', { remainingUses: 0 }],
])('does not cover %s', (_, changes) => {
  expect(covers(changes)).toBe(false);
});

test.each([
  ['a changed policy', [policy('pol_1', 4)]],
  ['another policy that also holds it', [policy('pol_1', 3), policy('pol_3', 1)]],
  ['a policy without a version', [policy('pol_1', undefined)]],
])('does not cover a call that is held by %s', (_, fired) => {
  expect(covers({}, { fired })).toBe(false);
});

test('ignores policies that only log', () => {
  expect(covers({}, { fired: [policy('pol_1', 3), policy('pol_3', 1, { mode: 'log_only' })] })).toBe(true);
});

test('covers a repeat of the check that took its last use, and nothing else', () => {
  expect(covers({ remainingUses: 0 }, { usedGrantId: 'grt_1' })).toBe(true);
  expect(covers({ remainingUses: 0 }, { usedGrantId: 'grt_2' })).toBe(false);
  expect(covers({ remainingUses: 0, isRevoked: true }, { usedGrantId: 'grt_1' })).toBe(false);
});

test('prefers the grant that the first check used', () => {
  const grants = [grant, { ...grant, id: 'grt_2' }];
  expect(coveringGrant(grants, { ...checked, usedGrantId: 'grt_2' })?.id).toBe('grt_2');
  expect(coveringGrant(grants, checked)?.id).toBe('grt_1');
});
