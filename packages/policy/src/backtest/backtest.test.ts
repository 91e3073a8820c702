import { expect, test } from 'vitest';
import type { DefinedPolicy, PolicyDefinition } from '../check/fired-policy.ts';
import { Backtest } from './backtest.ts';
import type { PastDecision } from './history-replay.ts';

function policy(id: string, fields: Partial<PolicyDefinition>): DefinedPolicy {
  return {
    id,
    definition: {
      name: id,
      description: null,
      mode: 'enforce',
      effect: 'deny',
      priority: 0,
      match: {},
      condition: null,
      rate: null,
      approval: null,
      schedule: null,
      message: null,
      ...fields,
    },
  };
}

let number = 0;

function past(fields: Partial<PastDecision> = {}): PastDecision {
  number += 1;
  return {
    id: `dec_${number}`,
    decidedAt: new Date(1_700_000_000_000 + number * 1000).toISOString(),
    agentId: 'billing',
    sessionId: 'session',
    actionId: null,
    toolName: 'refund',
    argumentsHash: 'sha256:aa',
    framework: null,
    environment: null,
    matched: [],
    dryRun: false,
    arguments: null,
    argumentsOmitted: false,
    origins: null,
    principal: null,
    ...fields,
  };
}

function backtest(draft: readonly DefinedPolicy[], decisions: readonly PastDecision[]) {
  const tried = new Backtest(draft);
  for (const decision of decisions) tried.add(decision);
  return tried.result();
}

test('counts what would change, by agent and tool, with examples', () => {
  const decisions = [
    ...Array.from({ length: 5 }, () => past()),
    past({ agentId: 'support' }),
    past({ toolName: 'read' }),
  ];
  const result = backtest([policy('no-refunds', { match: { tools: ['refund'] } })], decisions);
  expect(result).toEqual({
    decisions: 7,
    unchanged: 1,
    changed: 6,
    cannotTell: 0,
    changes: [
      {
        agentId: 'billing',
        toolName: 'refund',
        from: 'allow',
        to: 'deny',
        policyId: 'no-refunds',
        count: 5,
        examples: decisions.slice(0, 3).map(({ id }) => id),
      },
      expect.objectContaining({ agentId: 'support', count: 1 }),
    ],
  });
});

test('compares with what the policies decided, not with the approver', () => {
  const held = past({ matched: [{ policyId: 'old', effect: 'require_approval', mode: 'enforce' }] });
  const same = policy('old', { effect: 'require_approval' });
  expect(backtest([same], [held])).toMatchObject({ changed: 0 });
  expect(backtest([], [held]).changes).toMatchObject([
    { from: 'require_approval', to: 'allow', policyId: null },
  ]);
});

test('counts a decision that depends on arguments that were not shown apart', () => {
  const large = policy('large', { condition: 'args.amount > 100' });
  const decisions = [
    past({ arguments: { amount: 500 } }),
    past({ arguments: { amount: 5 } }),
    past(),
    past({ argumentsOmitted: true }),
  ];
  expect(backtest([large], decisions)).toMatchObject({ changed: 1, unchanged: 1, cannotTell: 2 });
});

test('tells a decision that another policy makes in any case', () => {
  const large = policy('large', { effect: 'require_approval', condition: 'args.amount > 100' });
  const denied = policy('denied', { match: { tools: ['refund'] } });
  expect(backtest([large, denied], [past()])).toMatchObject({ changed: 1, cannotTell: 0 });
  const allowed = policy('allowed', { effect: 'allow', condition: 'origins.to.from == "user"' });
  expect(backtest([allowed], [past()])).toMatchObject({ cannotTell: 1 });
  expect(
    backtest([policy('log', { mode: 'log_only', condition: 'args.amount > 1' })], [past()]),
  ).toMatchObject({ unchanged: 1, cannotTell: 0 });
});

test('counts rates as checks do: each named action once, and no dry run', () => {
  const rate = { max: 2, windowSeconds: 3600, per: 'agent' } as const;
  const limited = policy('limited', { rate });
  const decisions = [
    past({ actionId: 'a' }),
    past({ actionId: 'a' }),
    past({ dryRun: true }),
    past(),
    past({ agentId: 'other' }),
    past(),
  ];
  const tried = new Backtest([limited]);
  expect(decisions.map((decision) => tried.add(decision).decision)).toEqual([
    'allow',
    'allow',
    'allow',
    'allow',
    'allow',
    'deny',
  ]);
  const later = past({ decidedAt: new Date(1_700_000_000_000 + 3 * 3_600_000).toISOString() });
  expect(tried.add(later).decision).toBe('allow');
});

test('keeps a revoked agent revoked', () => {
  const revoked = past({ matched: [{ policyId: 'agent_revoked', effect: 'deny', mode: 'enforce' }] });
  expect(backtest([policy('all', { effect: 'allow' })], [revoked])).toMatchObject({
    changed: 0,
    unchanged: 1,
  });
});

test('counts what depends on how earlier calls ended, if that is not known', () => {
  const gate = policy('gate', { match: { tools: ['refund'] }, condition: '!session.called("approve")' });
  const approve = past({ toolName: 'approve', actionId: 'one' });
  const end = { agentId: 'billing', toolName: 'approve', argumentsHash: 'sha256:aa', responseStatus: 200 };
  const arrived = { ...approve, ended: { ...end, receivedMs: Date.parse(approve.decidedAt) } };
  expect(backtest([gate], [approve, past()])).toMatchObject({ cannotTell: 1, unchanged: 1 });
  expect(backtest([gate], [{ ...approve, ended: null }, past()])).toMatchObject({
    cannotTell: 0,
    changed: 1,
  });
  expect(backtest([gate], [arrived, past()])).toMatchObject({ cannotTell: 0, changed: 0 });
  expect(new Backtest([gate]).readsOutcomes).toBe(true);
});

test('counts held calls for the history as their approver decided', () => {
  const limit = policy('limit', { condition: 'session.count("refund") >= 1' });
  const hold = policy('hold', { effect: 'require_approval' });
  const tried = new Backtest([limit, hold]);
  const decide = (fields: Partial<PastDecision>) => tried.add(past({ ended: null, ...fields })).decision;
  expect(decide({ decision: 'require_approval' })).toBe('require_approval');
  expect(decide({ decision: 'deny' })).toBe('require_approval');
  expect(decide({ decision: 'allow' })).toBe('require_approval');
  expect(decide({})).toBe('deny');
});

test('counts a held call for the history from its approval on', () => {
  const tried = new Backtest([
    policy('limit', { condition: 'session.count("refund") >= 1' }),
    policy('hold', { effect: 'require_approval' }),
  ]);
  const approved = past({ ended: null, decision: 'allow' });
  const seconds = (count: number) => new Date(Date.parse(approved.decidedAt) + count * 1000).toISOString();
  const decide = (decidedAt: string, endedAt?: string) =>
    tried.add({ ...approved, decidedAt, endedAt }).decision;
  expect(decide(seconds(0), seconds(30))).toBe('require_approval');
  expect(decide(seconds(10), seconds(20))).toBe('require_approval');
  expect(decide(seconds(19))).toBe('require_approval');
  expect(decide(seconds(20))).toBe('deny');
});

test('counts the calls of observing guards as if they had been enforced, if asked to', () => {
  const limited = policy('limited', { rate: { max: 1, windowSeconds: 60, per: 'agent' } });
  const gate = policy('gate', { condition: 'session.count("refund") >= 2' });
  const observed = ['a', 'b', 'c', null, null].map((actionId) =>
    past({ actionId, dryRun: true, decision: 'allow' }),
  );
  const decisions = (draft: DefinedPolicy, countDryRuns: boolean) => {
    const tried = new Backtest([draft], { countDryRuns });
    return observed.map((decision) => tried.add(decision).decision);
  };
  expect(decisions(limited, false)).toEqual(Array(5).fill('allow'));
  // A dry run without an id is a trial in the console, which no agent made.
  expect(decisions(limited, true)).toEqual(['allow', 'deny', 'deny', 'deny', 'deny']);
  expect(decisions(gate, true)).toEqual(['allow', 'allow', 'deny', 'deny', 'deny']);
  expect(decisions(gate, false)).toEqual(Array(5).fill('allow'));
});
