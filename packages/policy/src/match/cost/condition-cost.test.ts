import { expect, test } from 'vitest';
import { parseCondition } from '../condition.ts';

test.each([
  'action.toolName.matches("(a+)+$")',
  'true || [action.toolName].exists(name, name.matches("a"))',
  '{"a": action.toolName.matches("a")}["a"]',
])('rejects the regular expression in %s', (condition) => {
  expect(() => parseCondition(condition)).toThrow(
    'matches() is not available because a regular expression can take unbounded time; use startsWith, endsWith or contains (line 1, column',
  );
});

test('an error contains the line and column', () => {
  const condition = 'agent.id == "bot" &&\n  action.toolName.matches("a")';
  expect(() => parseCondition(condition)).toThrow('contains (line 2, column 3)');
});

test.each([
  ['exists', 'args.a.all(x, args.b.exists(y, x == y))'],
  ['map', 'args.a.map(x, x).exists(y, y == 1)'],
  ['filter', 'args.a.exists_one(x, x in args.b.filter(y, y != x))'],
  ['all', '[true].exists(x, x || (true ? args.a.all(y, y) : false))'],
])('rejects %s() inside another comprehension: %s', (name, condition) => {
  expect(() => parseCondition(condition)).toThrow(
    `${name}() must not be inside another comprehension (line 1, column`,
  );
});

test('accepts adjacent comprehensions', () => {
  expect(() => parseCondition('args.a.all(x, x > 0) && args.b.exists(y, y > 0)')).not.toThrow();
});

const joined = (count: number) => Array.from({ length: count }, () => 'args.list').join(' + ');

/** Returns a condition in which each `bind` makes a list twice as long as the previous one. */
function doubled(times: number): string {
  let condition = `size(v${times}) > 0`;
  for (let at = times; at > 0; at -= 1) {
    condition = `cel.bind(v${at}, v${at - 1} + v${at - 1}, ${condition})`;
  }
  return `cel.bind(v0, [1], ${condition})`;
}

test.each([
  ['a list that doubles repeatedly', doubled(20), 'bind() is not available'],
  ['a duration of any length', 'duration(args.wait) > duration("1h")', 'duration() must be given a literal'],
  ['a duration that is too long', `duration("${'1'.repeat(31)}") > duration("1h")`, 'at most 30 characters'],
  [
    'a search from the end for any text',
    'args.text.lastIndexOf(args.name) > 0',
    'lastIndexOf() must be given a literal',
  ],
  [
    'a search from the end in every round',
    'args.words.exists(word, args.text.lastIndexOf(word) > 0)',
    'lastIndexOf() must be given a literal',
  ],
  ['many +', `size(${joined(12)}) > 0`, 'has more than 10 + operators'],
  [
    'a value for each character',
    'args.text.split("").exists(x, x == "a")',
    'split() before exists() needs a limit of at most 500 parts: split(separator, 500)',
  ],
  ['too many parts', 'args.text.split("", 501).exists(x, x == "a")', 'split() before exists() needs a limit'],
  [
    'an unlimited number of parts',
    'args.text.split("", -1).exists(x, x == "a")',
    'split() before exists() needs',
  ],
  [
    'the same search in every round',
    'args.list.exists(x, args.text.contains(args.name))',
    'contains() inside exists() must search in or for x; move it before exists()',
  ],
  [
    'the same parts in every round',
    'args.list.map(x, args.text.split(x + "")) != []',
    'split() inside map()',
  ],
  ['a search in the range of a loop', '[args.text.indexOf("a")].all(x, x > 0)', 'indexOf() must not be in'],
  [
    'a text made by a loop',
    'args.list.map(x, args.text).join().size() > 9',
    'join() must not join the result',
  ],
  [
    'a document read in every round',
    'args.list.exists(x, bytes(args.text).json().a == x)',
    'json() must not be inside a comprehension',
  ],
  [
    'joined lists with a complex loop body',
    `(${joined(11)}).exists(x, ${Array.from({ length: 5 }, () => 'x == 1').join(' || ')})`,
    'exists() is too complex for joined lists',
  ],
  [
    'a text that is listed many times',
    `[${Array.from({ length: 40 }, () => 'args.text').join(', ')}].exists(x, x.contains(args.name) || x == "")`,
    'exists() is too complex for joined lists',
  ],
])('rejects %s', (_what, condition, problem) => {
  expect(() => parseCondition(condition)).toThrow(problem);
});

test.each([
  ['args.recipients.exists(one, one.lowerAscii().contains("@evil.example"))'],
  ['["DROP", "DELETE", "TRUNCATE"].exists(word, args.sql.upperAscii().contains(word))'],
  ['args.items.all(item, item.tags[0].indexOf(args.prefix) == 0)'],
  ['(args.to + args.cc).exists(one, one.endsWith("@evil.example") || one.contains(args.name))'],
  ['args.path.split("/", 100).exists(part, part == "..")'],
  ['args.path.lastIndexOf("/") > args.path.lastIndexOf("..")'],
  ['args.path.split("/")[0] == "etc" && args.text.contains(args.name)'],
  ['args.names.exists(name, name.split(".")[0] == "etc")'],
  ['args.items.exists(item, item.price + item.tax > 500.0)'],
  ['timestamp(args.until) - timestamp(args.from) > duration("1h30m")'],
  ['args.names.join(", ") == "a, b"'],
])('accepts %s', (condition) => {
  expect(() => parseCondition(condition)).not.toThrow();
});
