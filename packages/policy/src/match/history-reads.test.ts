import { expect, test } from 'vitest';
import { CallHistory } from '../history/call-history.ts';
import { AgentTools } from '../history/folded-calls.ts';
import { WatchedCalls } from '../history/watched-calls.ts';
import { checkedAction } from './checked-action.ts';
import { parseCondition } from './condition.ts';
import { matchPolicy, needsHistory, policyRule } from './match-policy.ts';

const count = 'session.count("a") > 0';

test.each([
  [
    'an unknown function',
    'session.calls("a") > 0',
    "found no matching overload for 'Session.calls(string)' (line 1, column 1)",
  ],
  ['a tool of another type', 'session.count(5) > 0', "found no matching overload for 'Session.count(int)'"],
  ['a result of another type', 'session.count("a") > "b"', 'no such overload: int > string'],
  ['another receiver', 'args.count("a") > 0', "found no matching overload for 'map.count(string)'"],
  [
    'a receiver of unknown type',
    'args.x.count("a") > 0',
    'count() is a function of session, as in session.count("refund")',
  ],
  [
    'an agent without the function',
    'agent.called("a")',
    "found no matching overload for 'Agent.called(string)'",
  ],
  [
    'a pattern that is not literal',
    'session.called(args.tool)',
    'a tool must be a literal pattern of 1 to 200 characters',
  ],
  ['an empty pattern', 'session.called("")', 'or action.toolName (line 1, column 16)'],
  [
    'a long window',
    'session.called("a", duration("24h1s"))',
    'a window must be from 1 second to 24 hours, got "24h1s"',
  ],
  ['a short window', 'session.called("a", duration("10ms"))', 'got "10ms"'],
  ['a negative window', 'session.called("a", duration("-1h"))', 'got "-1h"'],
  [
    'a window that is not literal',
    'session.called("a", duration("1h") + duration("1h"))',
    'a window must be a literal',
  ],
  [
    'arguments that are not literal',
    'session.called("a", args)',
    'and arguments a literal such as {"orderId": args.orderId}',
  ],
  ['no arguments', 'session.called("a", {})', 'compares 1 to 4 arguments, got 0'],
  [
    'a name of an argument that is not literal',
    'session.called("a", {args.x: 1})',
    'the name of an argument must be a literal',
  ],
  [
    'a sum of an unknown argument',
    'session.sum("a", args.name) > 1.0',
    'the argument to sum must be a literal',
  ],
  ['a read in a loop', 'args.list.exists(x, session.called("a"))', 'called() must not be inside exists()'],
  [
    'too many reads',
    Array.from({ length: 6 }, () => count).join(' || '),
    'reads the history more than 5 times',
  ],
  [
    'a list of several types',
    'action.toolName in ["a", 1]',
    'a list must have values of one type (line 1, column 20)',
  ],
])('rejects %s', (_what, condition, problem) => {
  expect(() => parseCondition(condition)).toThrow(problem);
});

test('returns what a condition reads', () => {
  expect(parseCondition('args.count > 1').history).toBeUndefined();
  const condition =
    'session.sum("pay_*", "amount", {"to": args.to}, duration("1h30m")) > 5.0 && session.untrusted() || agent.firstUse()';
  expect(parseCondition(condition).history).toEqual({
    tools: ['pay_*'],
    argumentNames: ['amount', 'to'],
    readsOutcomes: false,
    readsUntrusted: true,
    agentTools: [undefined],
  });
  expect(parseCondition('session.calledAfter("a", action.toolName)').history).toMatchObject({
    tools: ['a', undefined],
    readsOutcomes: true,
  });
});

test('watches the calls that policies read, and no others', () => {
  const rule = (condition: string) => policyRule({ effect: 'deny', match: { tools: ['pay'] }, condition });
  const watched = new WatchedCalls([
    rule('session.sum("refund_*", "amount") > 1.0'),
    rule('session.count(action.toolName, {"to": args.to}) > 1 || agent.firstUse("wire")'),
    rule('session.untrusted()'),
    rule('args.amount > 1'),
  ]);
  const of = (toolName: string, isUntrusted = false) => watched.ofTool(toolName, () => isUntrusted);
  const none = { inSession: false, isUntrusted: false, ofAgent: false, argumentNames: [] };
  expect(of('refund_order')).toEqual({ ...none, inSession: true, argumentNames: ['amount'] });
  expect(of('pay')).toEqual({ ...none, inSession: true, argumentNames: ['to'] });
  expect(of('wire')).toEqual({ ...none, ofAgent: true });
  expect(of('read_inbox', true)).toEqual({ ...none, isUntrusted: true });
  expect(of('search')).toBeUndefined();
});

test('follows the rule of the effect when the history cannot be told', () => {
  const action = checkedAction({ agentId: 'bot', action: { toolName: 'pay', argumentsHash: 'h' } });
  const history = {
    session: undefined,
    agent: new AgentTools(),
    nowMs: 1,
    actionId: undefined,
    policySinceMs: 0,
  };
  const rule = (effect: 'deny' | 'allow') =>
    policyRule({ effect, match: { tools: ['pay'] }, condition: count });
  const why = 'the tool matches "pay"; the condition cannot be evaluated';
  expect(matchPolicy(rule('deny'), action, history)).toBe(
    `${why} (the check has no sessionId, so it has no history), which counts as a match`,
  );
  expect(matchPolicy(rule('deny'), action)).toBe(
    `${why} (the history is not available here), which counts as a match`,
  );
  expect(matchPolicy(rule('allow'), action, history)).toBeUndefined();
  expect(matchPolicy(rule('deny'), action, { ...history, session: new CallHistory(0) })).toBeUndefined();
  expect(needsHistory(rule('deny'), action)).toBe(true);
  expect(needsHistory(rule('deny'), { ...action, toolName: 'read' })).toBe(false);
});
