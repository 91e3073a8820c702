import { expect, test } from 'vitest';
import { maxConditionCost, parseCondition } from '../condition.ts';

const costOf = (condition: string) => parseCondition(condition).cost;

test.each([
  'args.amount > 500',
  'has(args.amount) && args.amount > 500.0',
  'args.currency != "EUR"',
  'action.toolName in ["search", "read_file"]',
  'args.to.endsWith("@example.com")',
  'origins.recipient.from == "tool" && origins.recipient.as == "text"',
  'origins.any("tool", "text") && origins.recipient.toolName.contains("web")',
])('a typical condition costs little: %s', (condition) => {
  expect(costOf(condition)).toBeLessThan(100);
});

test.each([
  ['args.text.contains("drop")', 'args.text.lowerAscii().contains("drop")'],
  ['args.list.exists(x, x == 5)', 'args.list.exists(x, x > 5)'], // each item may cause an error
  ['args.list.exists(x, x > 5)', 'args.list.exists(x, x > 5 || x > 6)'],
  ['args.list == args.other', 'args.list.exists(x, x == args.other)'],
  ['size(args.list) > 5', 'size(args.list + args.list) > 5'],
  ['size(args.list + args.other) > 5', 'size(args.list + args.list) > 5'],
  ['size(args.list + args.other) > 5', 'size(args.list + args.list.inner) > 5'],
  ['args.text.size() > 5', 'args.text.split("").size() > 5'],
  ['"x" in args.list', 'args.x in args.list'],
  ['args.list.map(x, 1) == []', 'args.list.map(x, [1, 1, 1]) == args.list'],
  ['timestamp(args.at).getHours() > 9', 'timestamp(args.at).getHours("Europe/Berlin") > 9'],
  ['args.a ? true : false', 'args.a ? args.text.contains("b") : false'],
  ['-args.a > 5', '-args.a > 5 && !args.b'],
  ['{"a": 1} == args', '{"a": args.text + "b"} == args'],
  ['args.recipient.from.origins == "tool"', 'origins.recipient.from == "tool"'], // they are made readable first
  ['origins.any("tool")', 'origins.exists(path, origins[path].from == "tool")'],
  ['args.text.lastIndexOf("a") > 0', 'args.text.lastIndexOf("abcdefgh") > 0'],
])('%s costs less than %s', (cheap, costly) => {
  expect(costOf(cheap)).toBeLessThan(costOf(costly));
});

test.each([
  'args.words.exists(word, args.text.contains(word))',
  'args.list.exists(x, x in args.list)',
  `args.list.exists(x, ${Array.from({ length: 30 }, () => 'x > 5').join(' || ')})`,
  'args.list.exists(x, timestamp(x).getHours("Europe/Berlin") > 9)',
  'size(args.list.join(args.text)) > 5',
  'args.text.split("").map(x, [x, x, x, x]) == args.list',
])('rejects %s because of its cost', (condition) => {
  expect(() => parseCondition(condition)).toThrow(
    /^condition: (split|costs up to \d+, but a condition may cost at most 5000; )/,
  );
});

test('a comprehension over origins costs less than one over arguments, because a check has fewer of them', () => {
  const over = (list: string) =>
    costOf(`${list}.exists(path, path.startsWith("to") && origins[path].as == "text")`);
  expect(over('origins')).toBeLessThan(over('args') / 3);
});

test('the cost of a search does not depend on the searched text', () => {
  expect(costOf('args.text.contains(args.name)')).toBeLessThan(maxConditionCost / 5);
});
