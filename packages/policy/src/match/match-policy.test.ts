import type { PolicyCheck } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { checkedAction } from './checked-action.ts';
import { matchPolicy, policyRule } from './match-policy.ts';

type Policy = Parameters<typeof policyRule>[0];

const body: PolicyCheck = {
  agentId: 'billing-bot',
  action: { toolName: 'refund_order', argumentsHash: 'sha256:aa', arguments: { amount: 700 } },
  environment: 'prod',
};

function why(policy: Partial<Policy>, also: Partial<PolicyCheck> = {}): string | undefined {
  return matchPolicy(policyRule({ effect: 'deny', ...policy }), checkedAction({ ...body, ...also }));
}

test.each([
  [{}, 'the policy applies to every action'],
  [{ tools: ['refund_*'] }, 'the tool matches "refund_*"'],
  [{ tools: ['delete_*', 'refund_order', '*'] }, 'the tool matches "refund_order"'],
  [{ tools: ['delete_*'] }, undefined],
  [{ tools: [] }, undefined],
  [
    { environments: ['prod'], agents: ['billing-*'] },
    'the agent matches "billing-*"; the environment matches "prod"',
  ],
  [{ agents: ['billing-*'], environments: ['dev'] }, undefined],
  [{ frameworks: ['*'] }, undefined], // the action has no framework
])('match %j: %s', (match, reason) => {
  expect(why({ match })).toBe(reason);
});

test('matches the framework of an action', () => {
  expect(why({ match: { frameworks: ['lang*'] } }, { framework: 'langchain' })).toBe(
    'the framework matches "lang*"',
  );
});

test('evaluates the condition after the patterns', () => {
  const match = { tools: ['refund_*'] };
  expect(why({ match, condition: 'args.amount > 500' })).toBe(
    'the tool matches "refund_*"; the condition holds',
  );
  expect(why({ match, condition: 'args.amount > 900' })).toBeUndefined();
  expect(why({ match: { tools: ['send_*'] }, condition: 'true' })).toBeUndefined();
  expect(why({ condition: 'true' })).toBe('the condition holds');
});

const failed = 'the condition cannot be evaluated (No such key: sum), which counts as a match';
test.each([
  ['deny', failed],
  ['require_approval', failed],
  ['allow', undefined],
] as const)('a condition that cannot be evaluated, with the effect %s: %s', (effect, reason) => {
  expect(why({ effect, condition: 'args.sum > 5' })).toBe(reason);
});

const withoutOrigins =
  'the condition cannot be evaluated (the check has no argument origins: turn on `origins` in the recorder), which counts as a match';
test.each([
  ['deny', withoutOrigins],
  ['require_approval', withoutOrigins],
  ['allow', undefined],
] as const)('a check without argument origins, with the effect %s: %s', (effect, reason) => {
  expect(why({ effect, condition: 'origins.any("tool", "text")' })).toBe(reason);
  expect(why({ effect, condition: '!origins.any("tool", "text")' })).toBe(reason);
});

test.each([
  [
    'deny',
    'the condition cannot be evaluated (the shown arguments are too large for a condition), which counts as a match',
  ],
  ['allow', undefined],
] as const)('arguments that are too large, with the effect %s: %s', (effect, reason) => {
  const action = { ...body.action, arguments: { list: new Array(20_000).fill(0) } };
  expect(why({ effect, condition: 'size(args.list) == 0' }, { action })).toBe(reason);
  expect(why({ effect, match: { tools: ['refund_*'] } }, { action })).toBe('the tool matches "refund_*"');
});

test('a reason truncates long shown texts', () => {
  const action = { ...body.action, arguments: { sure: 'no'.repeat(16_000) } };
  const reason = why({ effect: 'deny', condition: 'bool(args.sure)' }, { action });
  expect(reason).toMatch(/^the condition cannot be evaluated \(bool.*non?…\), which counts as a match$/);
  expect(reason?.length).toBeLessThan(300);
});

test('a reason escapes invisible and bidirectional characters of shown texts', () => {
  const action = { ...body.action, arguments: { sure: 'no\u202Eeno yb devorppa\u200B' } };
  const reason = why({ effect: 'require_approval', condition: 'bool(args.sure)' }, { action });
  expect(reason).toContain(String.raw`"no\u{202e}eno yb devorppa\u{200b}"`);
});

test('applies to an inner agent what applies to an agent above it, but permits nothing more', () => {
  const inside = { parentAgentIds: ['outer', 'root'] };
  const match = { agents: ['root'] };
  expect(why({ match })).toBeUndefined();
  expect(why({ match }, inside)).toBe('the agent matches "root"; the agent runs inside "root"');
  expect(why({ condition: 'agent.id == "outer"' }, inside)).toBe(
    'the condition holds; the agent runs inside "outer"',
  );
  expect(why({ effect: 'allow', match: { agents: ['billing-bot'] } }, inside)).toBeUndefined();
  expect(why({ effect: 'allow', match: { agents: ['billing-bot', 'outer', 'root'] } }, inside)).toBeDefined();
  expect(why({ effect: 'allow', match: { tools: ['refund_*'] } }, inside)).toBeDefined();
});

test('evaluates conditions on the subagent and the nearest agent above', () => {
  const condition = 'subagent == "code-reviewer" && parentAgentId == "outer"';
  expect(why({ condition })).toBeUndefined();
  const facts = { subagent: 'code-reviewer', parentAgentIds: ['outer', 'root'] };
  expect(why({ condition }, facts)).toBe('the condition holds');
});
