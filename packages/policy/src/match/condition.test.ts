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
    expect(error.message).toBe(`condition: ${error.problem}`);
    return error.problem;
  }
  return 'none';
}

test.each([
  ['an unknown name', 'enviroment == "prod"', 'Unknown variable: enviroment (line 1, column 1)'],
  ['an unknown field', 'action.tool == "x"', 'No such key: tool'],
  ['a type mismatch', 'agent.id > 5', 'no such overload: string > int'],
  ['broken syntax', 'true &&\n  args.amount >', 'Unexpected token: EOF (line 2, column 16)'],
  ['no content', '', 'Unexpected token: EOF'],
  ['a number as its result', '1 + 1', 'must be a boolean, got int'],
  ['a string as its result', 'action.toolName', 'must be a boolean, got string'],
  ['too many nodes', Array.from({ length: 150 }, () => 'true').join(' && '), 'Exceeded maxAstNodes'],
  ['too much nesting', `${'('.repeat(300)}true${')'.repeat(300)}`, 'Exceeded maxDepth'],
])('rejects a condition with %s', (_what, condition, problem) => {
  expect(problemOf(condition)).toContain(problem);
  expect(problemOf(condition)).not.toContain('\n');
});

test('a parser error is kept as the cause', () => {
  expect(() => parseCondition('true &&')).toThrow(
    expect.objectContaining({ name: 'ConditionError', cause: expect.any(Error) }),
  );
});

test('reads all fields of the action', () => {
  const condition =
    'agent.id == "bot" && session.id == "s-1" && action.toolName == "pay" && action.argumentsHash == "sha256:aa"' +
    ' && framework == "mastra" && environment == "production" && args.amount < 6';
  const named = { sessionId: 's-1', framework: 'mastra', environment: 'production' };
  const shown = { action: { ...action, arguments: { amount: 5 } } };
  expect(holds(condition, { ...named, ...shown })).toBe(true);
  expect(holds(condition, { ...named, ...shown, sessionId: 's-2' })).toBe(false);
});

test('fields that the action omits are empty', () => {
  expect(holds('session.id == "" && framework == "" && environment == "" && size(args) == 0')).toBe(true);
});

test.each([
  ['an argument that was not shown', 'args.amount > 5', 'No such key: amount'],
  ['an argument of another type', 'args.text > 5', 'no such overload'],
  ['an argument that is neither true nor false', 'args.text', 'the condition did not return a boolean'],
])('throws for %s', (_what, condition, problem) => {
  const shown = { action: { ...action, arguments: { text: 'a' } } };
  expect(() => holds(condition, shown)).toThrow(problem);
});

test('throws for arguments that are too large, even if it does not read them', () => {
  const shown = { action: { ...action, arguments: { list: new Array(500).fill(0) } } };
  expect(() => holds('true', shown)).toThrow('the shown arguments are too large for a condition');
});

test('evaluates the same condition repeatedly', () => {
  const condition = parseCondition('args.list.exists(one, one == "no")');
  const about = (...list: string[]) =>
    condition.holds(checkedAction({ agentId: 'bot', action: { ...action, arguments: { list } } }));
  expect([about('no'), about('yes'), about(), about('yes', 'no')]).toEqual([true, false, false, true]);
});

/** Examples from the README for arguments of unexpected types. */
test.each<[string, Record<string, unknown>, boolean | 'throws']>([
  ['args.amount == "500"', { amount: 500 }, false],
  ['args.amount > 500', { amount: '1000' }, 'throws'],
  ['args.amount * 2 > 500', { amount: 400 }, 'throws'],
  ['args.amount * 2.0 > 500.0', { amount: 400 }, true],
  ['double(args.amount) > 500.0', { amount: '1000' }, true],
  ['double(args.amount) > 500.0', { amount: 'NaN' }, false],
  ['int(args.amount) > 500', { amount: '' }, false],
  ['has(args.to.country)', { to: 'XX' }, false],
  ['has(args.to.country)', {}, 'throws'],
  ['args.sql.contains("drop")', { sql: 'DROP TABLE' }, false],
  ['args.sql.lowerAscii().contains("drop")', { sql: 'DROP TABLE' }, true],
])('%s with %j: %s', (condition, shown, expected) => {
  const evaluate = () => holds(condition, { action: { ...action, arguments: shown } });
  if (expected === 'throws') expect(evaluate).toThrow();
  else expect(evaluate()).toBe(expected);
});

test.each<[unknown, boolean]>([
  [400, false],
  [600, true],
  ['400', true],
  ['NaN', true],
  [null, true],
  [undefined, true],
  [[1], true],
])('a negated condition that states what is allowed covers every type: %j', (amount, isDenied) => {
  const condition = '!(has(args.amount) && type(args.amount) == double && args.amount <= 500.0)';
  const shown = amount === undefined ? {} : { amount };
  expect(holds(condition, { action: { ...action, arguments: shown } })).toBe(isDenied);
});

test.each([
  ['action.toolName.contains(5)', 'string.contains(int)'],
  ['action.toolName.indexOf(true)', 'string.indexOf(bool)'],
  ['action.toolName.split(5) == []', 'string.split(int)'],
])('an error names the function of %s as written', (condition, name) => {
  expect(problemOf(condition)).toContain(`found no matching overload for '${name}'`);
});

test.each([
  ['args.text.contains("b,c")', true],
  ['args.text.indexOf(",") == 1', true],
  ['args.text.indexOf(",", 2) == 3', true],
  ['args.text.indexOf("a", 9) == 0', 'fromIndex out of range'],
  ['args.text.split(",") == ["a", "b", "c"]', true],
  ['args.text.split(",", 2) == ["a", "b,c"]', true],
  ['args.text.split(",", -1).size() == 3', true],
  ['args.text.split(",", 0).size() == 0', true],
  ['args.count.contains("a")', "found no matching overload for 'double.contains(string)'"],
])('evaluates the text search %s', (condition, expected) => {
  const evaluate = () => holds(condition, { action: { ...action, arguments: { text: 'a,b,c', count: 5 } } });
  if (typeof expected === 'string') expect(evaluate).toThrow(expected);
  else expect(evaluate()).toBe(expected);
});

test('an evaluation error has no stack, and later errors keep theirs', () => {
  const stackOf = () => {
    try {
      return holds('args.amount > 5');
    } catch (error) {
      return (error as Error).stack;
    }
  };
  expect(stackOf()).toMatch(/^(EvaluationError|Error): No such key: amount$/);
  expect(new Error('later').stack).toContain('condition.test');
});
