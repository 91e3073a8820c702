import type { PolicyCheck, PolicyCreate } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { policyDefinition } from '../check/fired-policy.ts';
import { checkedAction } from '../match/checked-action.ts';
import { type EarlierCall, PolicyTrial } from './policy-trial.ts';

const policies: PolicyCreate[] = [
  { name: 'known', effect: 'allow', match: { tools: ['refund'] }, condition: 'args.amount < 10' },
  {
    name: 'large',
    effect: 'require_approval',
    match: { tools: ['refund'] },
    condition: 'args.amount > 500',
  },
  { name: 'no deletions', effect: 'deny', match: { tools: ['delete_*', 'drop'] } },
  {
    name: 'limited',
    effect: 'deny',
    match: { agents: ['billing'] },
    rate: { max: 2, windowSeconds: 60, per: 'agent' },
  },
  { name: 'logged', effect: 'deny', mode: 'log_only', match: { frameworks: ['*'] } },
];

const trial = new PolicyTrial(
  policies.map((policy, index) => ({ id: `draft_${index}`, definition: policyDefinition(policy) })),
);

function check(fields: Partial<PolicyCheck['action']>, earlierActions?: number) {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', ...fields };
  return trial.check(checkedAction({ agentId: 'billing', action }), { actions: earlierActions });
}

function reasons(...given: Parameters<typeof check>): Record<string, string> {
  const tried = check(...given).explain();
  return Object.fromEntries(tried.map(({ policy, why }) => [policy.definition.name, why]));
}

test.each([
  [{ arguments: { amount: 900 } }, 'require_approval', 'large'],
  [{ arguments: { amount: 20 } }, 'allow', undefined],
  [{ arguments: { amount: 5 } }, 'allow', 'known'],
  [{}, 'require_approval', 'large'], // a condition that cannot be evaluated holds
  [{ toolName: 'delete_file' }, 'deny', 'no deletions'],
] as const)('decides %j: %s by %s', (fields, decision, name) => {
  const verdict = check(fields);
  expect(verdict.decision).toBe(decision);
  expect(verdict.decidedBy?.definition.name).toBe(name);
});

test('applies a rate after as many earlier actions', () => {
  expect(check({ arguments: { amount: 20 } }, 1).decision).toBe('allow');
  expect(check({ arguments: { amount: 20 } }, 2)).toMatchObject({
    decision: 'deny',
    decidedBy: { definition: { name: 'limited' } },
  });
});

test('explains why each policy applies or does not, in order of precedence', () => {
  expect(Object.entries(reasons({ arguments: { amount: 20 } }, 1))).toEqual([
    ['no deletions', 'the tool does not match "delete_*", "drop"'],
    ['limited', 'the agent matches "billing"; it is action 2, within the limit of 2'],
    ['logged', 'the action has no framework'],
    ['large', 'the tool matches "refund"; the condition does not hold'],
    ['known', 'the tool matches "refund"; the condition does not hold'],
  ]);
  expect(reasons({}, 2)).toMatchObject({
    limited: 'the agent matches "billing"; it is action 3 in 60 seconds, and the limit is 2',
    large: expect.stringContaining('which counts as a match'),
    known: expect.stringContaining('which counts as no match for allow'),
  });
});

test('reads the earlier calls of the session', () => {
  const conditions = {
    'not approved': '!session.called("approve", {"orderId": args.orderId}, duration("1h"))',
    'too much': 'session.sum("refund", "amount") > 100',
    'read mail': 'session.untrusted()',
    'first use': 'agent.firstUse("refund")',
  };
  const reading = new PolicyTrial(
    Object.entries(conditions).map(([name, condition]) => ({
      id: name,
      definition: policyDefinition({ name, effect: 'deny', match: { tools: ['refund'] }, condition }),
    })),
    { readsUntrusted: (toolName) => toolName === 'read_mail' },
  );
  const refund = { toolName: 'refund', argumentsHash: '', arguments: { orderId: 'o-1', amount: 5 } };
  const firing = (sessionId: string | undefined, ...calls: EarlierCall[]) =>
    reading
      .check(checkedAction({ agentId: 'billing', sessionId, action: refund }), { calls })
      .explain()
      .filter(({ applies }) => applies)
      .map(({ policy, why }) => policy.definition.name + (why.includes('cannot') ? ': unknown' : ''))
      .sort();
  const approval = { toolName: 'approve', arguments: { orderId: 'o-1' } };
  expect(firing('s-1')).toEqual(['first use', 'not approved']);
  expect(firing(undefined)).toEqual([
    'first use',
    'not approved: unknown',
    'read mail: unknown',
    'too much: unknown',
  ]);
  expect(firing(undefined, approval)).toEqual(['first use']);
  expect(firing(undefined, { ...approval, outcome: 'failed' })).toEqual(['first use', 'not approved']);
  expect(firing(undefined, { ...approval, secondsAgo: 3601 })).toEqual(['first use', 'not approved']);
  expect(firing(undefined, approval, { toolName: 'refund', arguments: { amount: 120 } })).toEqual([
    'too much',
  ]);
  expect(
    firing(undefined, approval, { toolName: 'refund', agentId: 'other', arguments: { amount: 1 } }),
  ).toEqual(['first use']);
  expect(firing(undefined, approval, { toolName: 'read_mail' })).toEqual(['first use', 'read mail']);
});
