import { expect, test } from 'vitest';
import type { Approver } from './approval-rules.ts';
import { type DecidableAction, decideHeld } from './decide-held.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

const approvals = {
  required: 1,
  approverKeys: null,
  approverGroups: null,
  notRequester: false,
  verifiedPrincipal: false,
  given: [],
};

function held(
  rules: Partial<DecidableAction['approvals']> = {},
  fields: Partial<DecidableAction> = {},
): DecidableAction {
  return {
    status: 'pending',
    expiresAt: '2026-01-01T00:15:00.000Z',
    sessionId: 'thread-1',
    singleUse: false,
    requestedBy: 'key_agent',
    principal: null,
    identity: null,
    decision: null,
    action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
    editable: [],
    changedArguments: null,
    approvals: { ...approvals, ...rules },
    ...fields,
  };
}

function approver(key: string, principal: string | null = null): Approver {
  return { key: `key_${key}`, principal };
}

/** Applies decisions one after the other, and returns the last outcome. */
function approveAll(action: DecidableAction, ...approvers: readonly Approver[]) {
  let given = action.approvals.given;
  let outcome: ReturnType<typeof decideHeld> | undefined;
  for (const one of approvers) {
    const now = { ...action, approvals: { ...action.approvals, given } };
    outcome = decideHeld(now, { decision: 'approve' }, one, nowMs);
    if ('given' in outcome) given = [...outcome.given];
  }
  return outcome;
}

test('completes with the last approver that is needed', () => {
  const two = held({ required: 2 });
  expect(approveAll(two, approver('a'))).toMatchObject({
    type: 'counted',
    given: [{ approvedBy: 'key_a', principal: null, approvedAt: '2026-01-01T00:00:00.000Z', grant: null }],
  });
  expect(approveAll(two, approver('a'), approver('b'))).toMatchObject({
    type: 'ended',
    status: 'approved',
    given: [{ approvedBy: 'key_a' }, { approvedBy: 'key_b' }],
  });
});

test.each([
  ['the same key', approver('a'), approver('a')],
  ['the same key for two persons', approver('a', 'ada'), approver('a', 'grace')],
  ['the same person with two keys', approver('a', 'ada'), approver('b', 'ada')],
])('counts %s once', (_, first, second) => {
  expect(approveAll(held({ required: 2 }), first, second)).toEqual({ type: 'unchanged' });
});

test('counts two unknown persons with two keys twice', () => {
  expect(approveAll(held({ required: 2 }), approver('a'), approver('b', 'ada'))).toMatchObject({
    type: 'ended',
  });
});

test('denies with one denial, also by an approver who approved before', () => {
  const given = [
    {
      approvedBy: 'key_a',
      principal: null,
      comment: null,
      approvedAt: '2026-01-01T00:00:00.000Z',
      grant: null,
    },
  ];
  const action = held({ required: 3, given });
  for (const key of ['a', 'b']) {
    expect(decideHeld(action, { decision: 'deny' }, approver(key), nowMs)).toEqual({
      type: 'ended',
      status: 'denied',
      given,
      grant: undefined,
      changedArguments: null,
    });
  }
});

test('refuses a decision about an action that ended another way', () => {
  const late = decideHeld(held({}, { status: 'expired' }), { decision: 'deny' }, approver('a'), nowMs);
  expect(late).toMatchObject({ type: 'refused', refusal: { code: 'ACTION_EXPIRED' } });
  const denied = decideHeld(held({}, { status: 'denied' }), { decision: 'approve' }, approver('a'), nowMs);
  expect(denied).toMatchObject({ type: 'refused', refusal: { code: 'ALREADY_DECIDED' } });
  const decision = {
    decision: 'approve',
    comment: null,
    decidedBy: 'key_b',
    principal: 'bo@example.com',
    decidedAt: '2026-01-01T00:00:00.000Z',
  } as const;
  const approved = held({}, { status: 'approved', decision });
  expect(decideHeld(approved, { decision: 'deny' }, approver('a'), nowMs)).toMatchObject({
    refusal: {
      details: [
        { path: 'status', code: 'approved' },
        { path: 'decision.decidedBy', code: 'key_b' },
        { path: 'decision.principal', code: 'bo@example.com' },
      ],
    },
  });
  const again = decideHeld(held({}, { status: 'approved' }), { decision: 'approve' }, approver('z'), nowMs);
  expect(again).toEqual({ type: 'unchanged' });
});

test.each([
  ['a key that the policy does not list', { approverKeys: ['key_b'] }, {}, approver('a'), 'approver_keys'],
  ['any key if none is permitted', { approverKeys: [] }, {}, approver('a'), 'approver_keys'],
  ['the key of the requester', { notRequester: true }, {}, approver('agent'), 'requester'],
  [
    'the principal of the requester',
    { notRequester: true },
    { principal: 'ada' },
    approver('a', 'ada'),
    'requester',
  ],
  [
    'an unknown person, who may be the requester',
    { notRequester: true },
    { principal: 'ada' },
    approver('a'),
    'unknown_approver',
  ],
])('lets %s deny but not approve', (_, rules, fields, who, code) => {
  const action = held(rules, fields);
  expect(decideHeld(action, { decision: 'approve' }, who, nowMs)).toMatchObject({
    type: 'refused',
    refusal: { code: 'PERMISSION_DENIED', details: [{ code }] },
  });
  expect(decideHeld(action, { decision: 'deny' }, who, nowMs)).toMatchObject({ type: 'ended' });
});

test('lets another person than the requester approve', () => {
  const action = held({ notRequester: true }, { principal: 'ada' });
  expect(approveAll(action, approver('a', 'grace'))).toMatchObject({ type: 'ended' });
  expect(approveAll(held({ notRequester: true }), approver('a'))).toMatchObject({ type: 'ended' });
});

test('grants only what all approvers chose, by the narrowest choice', () => {
  const grant = { for: 'tool', durationSeconds: 7200, maxUses: 5 } as const;
  const first = decideHeld(held({ required: 2 }), { decision: 'approve', grant }, approver('a'), nowMs);
  const given = 'given' in first ? [...first.given] : [];
  const second = (choice: Parameters<typeof decideHeld>[1]['grant']) =>
    decideHeld(held({ required: 2, given }), { decision: 'approve', grant: choice }, approver('b'), nowMs);
  expect(second({ for: 'action' })).toMatchObject({
    grant: { for: 'action', durationMs: 3_600_000, maxUses: 5 },
  });
  expect(second({ for: 'tool', maxUses: 9 })).toMatchObject({ grant: { for: 'tool', maxUses: 5 } });
  expect(second(undefined)).toMatchObject({ type: 'ended', grant: undefined });
});

test.each([
  ['a denial', held(), 'deny', 'contradiction'],
  ['an action without a session', held({}, { sessionId: null }), 'approve', 'no_session'],
  [
    'a policy that requires an approval for each call',
    held({}, { singleUse: true }),
    'approve',
    'single_use',
  ],
] as const)('refuses a grant with %s', (_, action, decision, code) => {
  const outcome = decideHeld(action, { decision, grant: { for: 'tool' } }, approver('a'), nowMs);
  expect(outcome).toMatchObject({
    type: 'refused',
    refusal: { code: 'VALIDATION_ERROR', details: [{ path: 'grant', code }] },
  });
});
