import type { PolicyCheck, PolicyEffect } from '@actlog/protocol';
import { expect, it } from 'vitest';
import { type CheckFacts, decideCheck, decideWaitingCheck } from './decide.ts';
import { agentRevoked, type FiredPolicy, type PolicyDefinition } from './fired-policy.ts';
import type { HeldAction } from './held-action.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

const check: PolicyCheck = {
  agentId: 'agent',
  sessionId: 'thread-1',
  actionId: 'call-1',
  action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
};

function policy(effect: PolicyEffect, changes: Partial<PolicyDefinition> = {}): FiredPolicy {
  const definition = { ...agentRevoked.policy.definition, message: null, effect, ...changes };
  return { policy: { id: `pol_${effect}`, definition }, why: 'the tool matches "refund"' };
}

function held(changes: Partial<HeldAction> = {}): HeldAction {
  return {
    id: 'pac_1',
    status: 'pending',
    policyId: 'pol_require_approval',
    policyName: 'Refunds',
    decision: null,
    onTimeout: 'deny',
    expiresAt: '2026-01-01T00:15:00.000Z',
    singleUse: false,
    usedAt: null,
    requestedBy: 'key_agent',
    principal: null,
    subagent: null,
    parentAgentIds: [],
    identity: null,
    traceparent: null,
    approvals: {
      required: 1,
      approverKeys: null,
      approverGroups: null,
      notRequester: false,
      verifiedPrincipal: false,
      given: [],
    },
    grantId: null,
    editable: [],
    changedArguments: null,
    executedHash: null,
    ...changes,
  };
}

const approved = held({
  status: 'approved',
  decision: {
    decision: 'approve',
    comment: 'ok',
    decidedBy: 'key_1',
    principal: null,
    decidedAt: '2026-01-01T00:00:00.000Z',
  },
});

function decide(facts: Partial<CheckFacts>) {
  const decision = decideCheck({
    check,
    fired: [],
    isRated: false,
    known: undefined,
    held: undefined,
    grant: undefined,
    equalHeld: undefined,
    isDenialRecorded: false,
    newHeldId: 'pac_new',
    keyId: 'key_agent',
    nowMs,
    ...facts,
  });
  return { ...decision, types: decision.effects.map(({ type }) => type) };
}

const unnamed = { ...check, actionId: undefined };

it('allows an action without policies, and changes nothing', () => {
  expect(decide({})).toMatchObject({ response: { decision: 'allow', decidedBy: null }, effects: [] });
});

it('holds an action for the policy that decides, and remembers it by its name', () => {
  const approval = { timeoutSeconds: 60, onTimeout: 'allow', singleUse: true } as const;
  const { response, effects, isFirst } = decide({ fired: [policy('require_approval', { approval })] });
  expect(response).toMatchObject({
    decision: 'require_approval',
    decidedBy: 'pol_require_approval',
    pendingActionId: 'pac_new',
    expiresAt: '2026-01-01T00:01:00.000Z',
  });
  expect(effects).toMatchObject([
    {
      type: 'hold',
      action: { id: 'pac_new', onTimeout: 'allow', singleUse: true, reason: 'the tool matches "refund"' },
    },
    { type: 'remember', action: { heldId: 'pac_new', isCounted: false } },
  ]);
  expect(isFirst).toBe(true);
});

it('waits 15 minutes, then denies, by default', () => {
  const { effects } = decide({
    check: unnamed,
    fired: [policy('require_approval', { message: 'Ask Ada.' })],
  });
  expect(effects).toMatchObject([
    { type: 'hold', action: { onTimeout: 'deny', expiresMs: nowMs + 900_000, reason: 'Ask Ada.' } },
  ]);
});

it('holds an action with the origins of its arguments', () => {
  const action = { ...check.action, origins: { to: { from: 'tool', as: 'text' } } } as const;
  const { effects } = decide({ check: { ...check, action }, fired: [policy('require_approval')] });
  expect(effects).toMatchObject([{ type: 'hold', action: { action } }, { type: 'remember' }]);
});

it('joins an equal action that waits, without counting or holding again', () => {
  const fired = [policy('require_approval')];
  const joined = decide({ check: unnamed, fired, isRated: true, equalHeld: held() });
  expect(joined).toMatchObject({ response: { pendingActionId: 'pac_1' }, effects: [], isFirst: false });
});

it('changes nothing when a known action is checked again', () => {
  const known = { heldId: 'pac_1', isCounted: true, grantId: null };
  const again = decide({ fired: [policy('require_approval')], isRated: true, known, held: held() });
  expect(again).toMatchObject({ effects: [], isFirst: false });
});

it.each([
  ['counts an action once', {}, ['count', 'remember']],
  ['does not count a known action again', { known: { heldId: null, isCounted: true, grantId: null } }, []],
  ['does not count a denied action', { fired: [policy('deny')] }, ['record_denial', 'remember']],
])('%s', (_, facts, expected) => {
  expect(decide({ isRated: true, ...facts }).types).toEqual(expected);
});

it('lets a denial take precedence over an earlier approval, and records it once', () => {
  const fired = [policy('deny')];
  const known = { heldId: 'pac_1', isCounted: false, grantId: null };
  const denied = decide({ fired, known, held: approved });
  expect(denied.response).toMatchObject({ decision: 'deny', decidedBy: 'pol_deny', comment: null });
  expect(denied.effects).toMatchObject([{ type: 'record_denial', heldId: 'pac_1' }]);
  expect(decide({ fired, known, held: approved, isDenialRecorded: true }).effects).toEqual([]);
});

it('uses a single-use approval with the first check that it allows', () => {
  const singleUse = { ...approved, singleUse: true };
  const fired = [policy('require_approval')];
  const decided = { check, fired, isDenialRecorded: false };
  expect(decideWaitingCheck({ ...decided, held: singleUse })).toMatchObject({
    response: { decision: 'allow', decidedBy: 'key_1', comment: 'ok' },
    effects: [{ type: 'use_approval', heldId: 'pac_1' }],
  });
  const used = { ...singleUse, usedAt: '2026-01-01T00:00:00.000Z' };
  expect(decideWaitingCheck({ ...decided, held: used }).effects).toEqual([]);
  const denied = { check, fired: [policy('deny')], isDenialRecorded: true };
  expect(decideWaitingCheck({ ...denied, held: singleUse }).effects).toEqual([]);
});

it.each([
  ['pending', 'require_approval', 'pol_require_approval'],
  ['expired', 'deny', 'pol_require_approval'],
] as const)('responds to an action that is %s with %s', (status, decision, decidedBy) => {
  const fired = [policy('require_approval')];
  const { response } = decideWaitingCheck({ check, fired, held: held({ status }), isDenialRecorded: false });
  expect(response).toMatchObject({ decision, decidedBy, comment: null });
});

it('records a watched call when it is allowed or denied, and a held one when it is decided', () => {
  const isWatched = true;
  expect(decide({ isWatched }).effects).toEqual([{ type: 'record_call', isAllowed: true }]);
  expect(decide({ isWatched, fired: [policy('deny')], isDenialRecorded: true }).types).toEqual([
    'record_call',
    'remember',
  ]);
  expect(decide({ isWatched, fired: [policy('require_approval')] }).types).toEqual(['hold', 'remember']);
  const waiting = (state: HeldAction) =>
    decideWaitingCheck({
      check,
      fired: [policy('require_approval')],
      held: state,
      isWatched,
      isDenialRecorded: false,
    });
  expect(waiting(held()).effects).toEqual([]);
  expect(waiting(approved).effects).toEqual([{ type: 'record_call', isAllowed: true }]);
  expect(waiting(held({ status: 'denied' })).effects).toEqual([{ type: 'record_call', isAllowed: false }]);
  expect(decide({}).effects).toEqual([]);
});
