import type { PolicyCheck } from '@actlog/protocol';
import { expect, test, vi } from 'vitest';
import { checkedAction } from './checked-action.ts';
import { policyMatch } from './policy-match.ts';
import { policyRule } from './policy-rule.ts';

type Policy = Parameters<typeof policyRule>[0];

const body: PolicyCheck = {
  agentId: 'billing-bot',
  action: { toolName: 'refund_order', argumentsHash: 'sha256:aa', arguments: { amount: 700 } },
  environment: 'prod',
};

function why(policy: Partial<Policy>, also: Partial<PolicyCheck> = {}): string | undefined {
  return policyMatch(policyRule({ effect: 'deny', ...policy }), checkedAction({ ...body, ...also }));
}

test.each([
  [{}, 'the policy is about every action'],
  [{ tools: ['refund_*'] }, 'the tool fits "refund_*"'],
  [{ tools: ['delete_*', 'refund_order', '*'] }, 'the tool fits "refund_order"'],
  [{ tools: ['delete_*'] }, undefined],
  [{ tools: [] }, undefined],
  [
    { environments: ['prod'], agents: ['billing-*'] },
    'the agent fits "billing-*"; the environment fits "prod"',
  ],
  [{ agents: ['billing-*'], environments: ['dev'] }, undefined],
  [{ frameworks: ['*'] }, undefined], // the action names none
])('match %j: %s', (match, reason) => {
  expect(why({ match })).toBe(reason);
});

test('a framework is looked at where the action names one', () => {
  expect(why({ match: { frameworks: ['lang*'] } }, { framework: 'langchain' })).toBe(
    'the framework fits "lang*"',
  );
});

test('a condition has its say after the names', () => {
  const match = { tools: ['refund_*'] };
  expect(why({ match, condition: 'args.amount > 500' })).toBe(
    'the tool fits "refund_*"; the condition holds',
  );
  expect(why({ match, condition: 'args.amount > 900' })).toBeUndefined();
  expect(why({ match: { tools: ['send_*'] }, condition: 'true' })).toBeUndefined();
  expect(why({ condition: 'true' })).toBe('the condition holds');
});

const untold = 'the condition cannot be told (No such key: sum), which counts as met';
test.each([
  ['deny', untold],
  ['require_approval', untold],
  ['allow', undefined],
] as const)('a condition that cannot be told, with the effect %s: %s', (effect, reason) => {
  expect(why({ effect, condition: 'args.sum > 5' })).toBe(reason);
});

test.each([
  [
    'deny',
    'the condition cannot be told (the shown arguments are too large for a condition), which counts as met',
  ],
  ['allow', undefined],
] as const)('arguments that are too large, with the effect %s: %s', (effect, reason) => {
  const action = { ...body.action, arguments: { list: new Array(20_000).fill(0) } };
  expect(why({ effect, condition: 'size(args.list) == 0' }, { action })).toBe(reason);
  expect(why({ effect, match: { tools: ['refund_*'] } }, { action })).toBe('the tool fits "refund_*"');
});

test('a reason does not repeat a long text that was shown', () => {
  const action = { ...body.action, arguments: { sure: 'no'.repeat(16_000) } };
  const reason = why({ effect: 'deny', condition: 'bool(args.sure)' }, { action });
  expect(reason).toMatch(/^the condition cannot be told \(bool.*non?…\), which counts as met$/);
  expect(reason?.length).toBeLessThan(300);
});

test('a reason writes out what turns or hides a text that was shown', () => {
  const action = { ...body.action, arguments: { sure: 'no\u202Eeno yb devorppa\u200B' } };
  const reason = why({ effect: 'require_approval', condition: 'bool(args.sure)' }, { action });
  expect(reason).toContain(String.raw`"no\u{202e}eno yb devorppa\u{200b}"`);
});

test('conditions that take too long for one action cannot be told any more', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const slow = {
      get amount() {
        vi.advanceTimersByTime(300);
        return 700;
      },
    };
    const action = checkedAction({ ...body, action: { ...body.action, arguments: slow } });
    const ask = (effect: Policy['effect']) =>
      policyMatch(policyRule({ effect, condition: 'args.amount > 500.0' }), action);
    expect([ask('deny'), ask('allow')]).toEqual(['the condition holds', 'the condition holds']);
    const late = 'the condition cannot be told (the conditions before it took 500 ms), which counts as met';
    expect([ask('deny'), ask('require_approval'), ask('allow')]).toEqual([late, late, undefined]);
    expect(policyMatch(policyRule({ effect: 'deny', match: {} }), action)).toBe(
      'the policy is about every action',
    );
  } finally {
    vi.useRealTimers();
  }
});
