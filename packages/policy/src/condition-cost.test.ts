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

const joined = (count: number) => Array.from({ length: count }, () => 'args.list').join(' + ');

/** A condition in which each `bind` makes a list twice as long as the one before it. */
function doubled(times: number): string {
  let condition = `size(v${times}) > 0`;
  for (let at = times; at > 0; at -= 1) {
    condition = `cel.bind(v${at}, v${at - 1} + v${at - 1}, ${condition})`;
  }
  return `cel.bind(v0, [1], ${condition})`;
}

test.each([
  ['a list that doubles again and again', doubled(20), 'bind() is not available'],
  ['a duration of any length', 'duration(args.wait) > duration("1h")', 'duration() must be given a text'],
  ['a duration that is too long', `duration("${'1'.repeat(31)}") > duration("1h")`, 'at most 30 characters'],
  [
    'a search from the end for any text',
    'args.text.lastIndexOf(args.name) > 0',
    'lastIndexOf() must be given a text that stands in the condition',
  ],
  [
    'such a search in every round',
    'args.words.exists(word, args.text.lastIndexOf(word) > 0)',
    'lastIndexOf() must be given a text',
  ],
  ['many +', `size(${joined(12)}) > 0`, 'more than 10 + are not available'],
  [
    'a value for each character',
    'args.text.split("").exists(x, x == "a")',
    'split() before exists() needs a limit of 500 parts at the most: split(separator, 500)',
  ],
  ['too many parts', 'args.text.split("", 501).exists(x, x == "a")', 'split() before exists() needs a limit'],
  ['parts without an end', 'args.text.split("", -1).exists(x, x == "a")', 'split() before exists() needs'],
  [
    'the same search in every round',
    'args.list.exists(x, args.text.contains(args.name))',
    'contains() inside exists() must look at x or for it; put it before exists()',
  ],
  [
    'the same parts in every round',
    'args.list.map(x, args.text.split(x + "")) != []',
    'split() inside map()',
  ],
  [
    'a search in what it goes through',
    '[args.text.indexOf("a")].all(x, x > 0)',
    'indexOf() must not stand in',
  ],
  ['a text made by a loop', 'args.list.map(x, args.text).join().size() > 9', 'join() must not join what'],
  [
    'a document read in every round',
    'args.list.exists(x, bytes(args.text).json().a == x)',
    'json() must not stand inside a comprehension',
  ],
  [
    'joined lists that are asked much',
    `(${joined(11)}).exists(x, ${Array.from({ length: 5 }, () => 'x == 1').join(' || ')})`,
    'exists() asks too much of lists that are joined',
  ],
  [
    'a text that is listed again and again',
    `[${Array.from({ length: 40 }, () => 'args.text').join(', ')}].exists(x, x.contains(args.name) || x == "")`,
    'exists() asks too much of lists that are joined',
  ],
])('%s is refused for its time', (_what, condition, problem) => {
  expect(() => parseCondition(condition)).toThrow(problem);
});

test.each([
  ['args.recipients.exists(one, one.lowerAscii().contains("@evil.example"))'],
  ['args.words.exists(word, args.text.upperAscii().contains(word))'],
  ['["DROP", "DELETE"].exists(word, args.sql.upperAscii().contains(word))'],
  ['args.items.all(item, item.tags[0].indexOf(args.prefix) == 0)'],
  ['(args.to + args.cc).exists(one, one.endsWith("@evil.example") || one.contains(args.name))'],
  ['args.path.split("/", 100).exists(part, part == "..")'],
  ['args.path.lastIndexOf("/") > args.path.lastIndexOf("..")'],
  ['args.path.split("/")[0] == "etc" && args.text.contains(args.name)'],
  ['args.names.exists(name, name.split(".")[0] == "etc")'],
  ['args.items.exists(item, item.price + item.tax > 500.0)'],
  ['timestamp(args.until) - timestamp(args.from) > duration("1h30m")'],
  ['args.names.join(", ") == "a, b"'],
])('%s is taken', (condition) => {
  expect(() => parseCondition(condition)).not.toThrow();
});
