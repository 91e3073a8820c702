import { expect, test } from 'vitest';
import type { DefinedPolicy, PolicyDefinition } from '../check/fired-policy.ts';
import { Backtest } from './backtest.ts';
import type { PastDecision } from './past-decision.ts';

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
