import type { PolicyCheck, PolicyCreate } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { policyDefinition } from '../check/policy-definition.ts';
import { checkedAction } from '../match/checked-action.ts';
import { PolicyTrial } from './policy-trial.ts';

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
  return trial.check(checkedAction({ agentId: 'billing', action }), earlierActions);
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
