import type { PolicyCheck } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { checkedAction } from './checked-action.ts';
import { parseCondition } from './condition.ts';
import { ConditionError } from './condition-error.ts';

const action = { toolName: 'pay', argumentsHash: 'sha256:aa' };

function holds(condition: string, also: Partial<PolicyCheck> = {}): boolean {
  return parseCondition(condition).holds(checkedAction({ agentId: 'bot', action, ...also }));
}

function problemOf(condition: string): string {
  try {
    parseCondition(condition);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    expect(error.message).toBe(`condition cannot be taken: ${error.problem}`);
    return error.problem;
  }
  return 'none';
}

test.each([
  ['a name that nobody knows', 'enviroment == "prod"', 'Unknown variable: enviroment (line 1, column 1)'],
  ['a field that is not there', 'action.tool == "x"', 'No such key: tool'],
  ['a type that does not fit', 'agent.id > 5', 'no such overload: string > int'],
  ['broken syntax', 'true &&\n  args.amount >', 'Unexpected token: EOF (line 2, column 16)'],
  ['nothing in it', '', 'Unexpected token: EOF'],
  ['a number for an answer', '1 + 1', 'must be true or false, and this is of the type int'],
  ['a text for an answer', 'action.toolName', 'must be true or false, and this is of the type string'],
  ['too many nodes', Array.from({ length: 150 }, () => 'true').join(' && '), 'Exceeded maxAstNodes'],
  ['a depth beyond the bound', `${'('.repeat(300)}true${')'.repeat(300)}`, 'Exceeded maxDepth'],
])('a condition with %s is refused', (_what, condition, problem) => {
  expect(problemOf(condition)).toContain(problem);
  expect(problemOf(condition)).not.toContain('\n');
});

test('a refusal of the parser keeps its cause', () => {
  expect(() => parseCondition('true &&')).toThrow(
    expect.objectContaining({ name: 'ConditionError', cause: expect.any(Error) }),
  );
});

test('it reads what an action says of itself', () => {
  const condition =
    'agent.id == "bot" && session.id == "s-1" && action.toolName == "pay" && action.argumentsHash == "sha256:aa"' +
    ' && framework == "mastra" && environment == "production" && args.amount < 6';
  const named = { sessionId: 's-1', framework: 'mastra', environment: 'production' };
  const shown = { action: { ...action, arguments: { amount: 5 } } };
  expect(holds(condition, { ...named, ...shown })).toBe(true);
  expect(holds(condition, { ...named, ...shown, sessionId: 's-2' })).toBe(false);
});

test('what an action does not name is empty', () => {
  expect(holds('session.id == "" && framework == "" && environment == "" && size(args) == 0')).toBe(true);
});

test.each([
  ['an argument that was not shown', 'args.amount > 5', 'No such key: amount'],
  ['an argument of another type', 'args.text > 5', 'no such overload'],
  ['an argument that is neither true nor false', 'args.text', 'the condition is neither true nor false'],
])('it cannot be told with %s', (_what, condition, problem) => {
  const shown = { action: { ...action, arguments: { text: 'a' } } };
  expect(() => holds(condition, shown)).toThrow(problem);
});

test('it cannot be told about arguments that are too large, read or not', () => {
  const shown = { action: { ...action, arguments: { list: new Array(500).fill(0) } } };
  expect(() => holds('true', shown)).toThrow('the shown arguments are too large for a condition');
});

test('the same condition is asked again and again', () => {
  const condition = parseCondition('args.list.exists(one, one == "no")');
  const about = (...list: string[]) =>
    condition.holds(checkedAction({ agentId: 'bot', action: { ...action, arguments: { list } } }));
  expect([about('no'), about('yes'), about(), about('yes', 'no')]).toEqual([true, false, false, true]);
});

/** What the README tells of arguments that are not what a condition takes them for. */
test.each<[string, Record<string, unknown>, boolean | 'untold']>([
  ['args.amount == "500"', { amount: 500 }, false],
  ['args.amount > 500', { amount: '1000' }, 'untold'],
  ['args.amount * 2 > 500', { amount: 400 }, 'untold'],
  ['args.amount * 2.0 > 500.0', { amount: 400 }, true],
  ['double(args.amount) > 500.0', { amount: '1000' }, true],
  ['double(args.amount) > 500.0', { amount: 'NaN' }, false],
  ['int(args.amount) > 500', { amount: '' }, false],
  ['has(args.to.country)', { to: 'XX' }, false],
  ['has(args.to.country)', {}, 'untold'],
  ['args.sql.contains("drop")', { sql: 'DROP TABLE' }, false],
  ['args.sql.lowerAscii().contains("drop")', { sql: 'DROP TABLE' }, true],
])('%s of %j is %s', (condition, shown, expected) => {
  const ask = () => holds(condition, { action: { ...action, arguments: shown } });
  if (expected === 'untold') expect(ask).toThrow();
  else expect(ask()).toBe(expected);
});

test.each<[unknown, boolean]>([
  [400, false],
  [600, true],
  ['400', true],
  ['NaN', true],
  [null, true],
  [undefined, true],
  [[1], true],
])('a condition that says what is allowed leaves nothing open: %j', (amount, isDenied) => {
  const condition = '!(has(args.amount) && type(args.amount) == double && args.amount <= 500.0)';
  const shown = amount === undefined ? {} : { amount };
  expect(holds(condition, { action: { ...action, arguments: shown } })).toBe(isDenied);
});
