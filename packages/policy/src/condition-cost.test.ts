import { expect, test } from 'vitest';
import { parseCondition } from './condition.ts';

test.each([
  'action.toolName.matches("(a+)+$")',
  'true || [action.toolName].exists(name, name.matches("a"))',
  '{"a": action.toolName.matches("a")}["a"]',
])('%s is refused for its regular expression', (condition) => {
  expect(() => parseCondition(condition)).toThrow(
    'matches() is not available, because a regular expression can take for ever; use startsWith, endsWith or contains (line 1, column',
  );
});

test('a refusal points at the place', () => {
  const condition = 'agent.id == "bot" &&\n  action.toolName.matches("a")';
  expect(() => parseCondition(condition)).toThrow('contains (line 2, column 3)');
});

test.each([
  ['exists', 'args.a.all(x, args.b.exists(y, x == y))'],
  ['map', 'args.a.map(x, x).exists(y, y == 1)'],
  ['filter', 'args.a.exists_one(x, x in args.b.filter(y, y != x))'],
  ['all', '[true].exists(x, x || (true ? args.a.all(y, y) : false))'],
])('%s() inside another comprehension is refused: %s', (name, condition) => {
  expect(() => parseCondition(condition)).toThrow(
    `${name}() must not stand inside another comprehension (line 1, column`,
  );
});

test('comprehensions beside each other are taken', () => {
  expect(() => parseCondition('args.a.all(x, x > 0) && args.b.exists(y, y > 0)')).not.toThrow();
});
