import { expect, test } from 'vitest';
import {
  exactDigitsOf,
  hasLargeInteger,
  jsonFlaw,
  parseExactJson,
  parseJsonForOutput,
  parseJsonWithBigInts,
  repeatedMember,
  stringifyExactJson,
} from './exact-json.ts';

test.each([
  '1917043659912705297',
  '-9007199254740993',
  '0.12345678901234567890123',
  '1e400',
  '1.7976931348623159e308',
  `1${'0'.repeat(500)}`,
])('keeps the digits of %s, which no double holds', (digits) => {
  const text = `{"a":[${digits}],"b":{"c":${digits}}}`;
  const value = parseExactJson(text) as { a: [object] };
  expect(exactDigitsOf(value.a[0])).toBe(digits);
  expect(JSON.stringify(value)).toBe(text);
});

test.each(['0', '-0', '1.50', '1E3', '1e21', '9007199254740991', '1917043659912705300', '5e-324', '0.1'])(
  'parses %s as JSON.parse does',
  (digits) => expect(parseExactJson(`[${digits}]`)).toEqual(JSON.parse(`[${digits}]`)),
);

test('serializes a BigInt as its digits', () => {
  expect(stringifyExactJson({ ad: 1917043659912705297n })).toBe('{"ad":1917043659912705297}');
});

test.each<[string, string | undefined]>([
  ['{"a":1,"a":2}', 'a'],
  ['{"b":{"a":1,"c":[{"a":1}],"\\u0061":2}}', 'a'],
  ['{"a":"\\"a\\":","b":"{","c":"}"}', undefined],
  ['[{"a":1},{"a":2}]', undefined],
  ['{"a":{"a":{"a":1}}, "b" : "a"}', undefined],
  ['"a"', undefined],
])('finds the member that %s has twice', (text, name) => {
  expect(repeatedMember(text)).toBe(name);
});

test('finds a repeated member after a text of several megabytes', () => {
  expect(repeatedMember(`{"a":"${'\\"x'.repeat(1_000_000)}","b":1,"b":2}`)).toBe('b');
});

test('serializes like JSON.stringify, also objects that occur twice', () => {
  const shared = { at: new Date(0), list: [1, undefined, 'ü'] };
  for (const value of [{ a: shared, b: [shared] }, 'text', undefined, null, 12]) {
    expect(stringifyExactJson(value)).toBe(JSON.stringify(value));
  }
});

test('throws for few objects that would be an endless text', () => {
  let value: unknown = 1;
  for (let level = 0; level < 60; level += 1) value = { left: value, right: value };
  expect(() => stringifyExactJson(value)).toThrow('The same objects occur too often.');
});

test.each([
  '{"ad":1917043659912705297}',
  '{"list":[-9007199254740993,1,9007199254740991],"text":"1917043659912705297"}',
  '[123456789012345678901234567890]',
  '{"a":0.1,"b":12345678901234567890,"c":null}',
])('keeps every digit of the whole numbers of %s', (text) => {
  expect(stringifyExactJson(parseJsonWithBigInts(text))).toBe(text);
  expect(JSON.stringify(parseJsonForOutput(text))).toBe(text);
});

test('parses whole numbers beyond 2^53 as BigInt, and no others', () => {
  expect(
    parseJsonWithBigInts('[9007199254740991,9007199254740992,-9007199254740993,1e21,"9007199254740993"]'),
  ).toEqual([9007199254740991, 9007199254740992n, -9007199254740993n, 1e21, '9007199254740993']);
  expect(hasLargeInteger({ a: [{ b: 9007199254740993n }] })).toBe(true);
  expect(hasLargeInteger({ a: [{ b: 9007199254740991 }] })).toBe(false);
});

test.each([
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', undefined],
  ['{"a":1,"a":1}', 'a: duplicate_key'],
  ['{"action":{"x":[0,{"to":"a","cc":"\\"}","to":"b"}]}}', 'action.x.1.to: duplicate_key'],
  ['{"\\u0061":1,"a":2}', 'a: duplicate_key'],
  ['{"__proto__":1,"__proto__":2}', '__proto__: duplicate_key'],
  ['{"a":{"":1},"":{"":1}}', undefined],
  ['["a","a",":","a"]', undefined],
  [
    '[0.1,1.0,-0.0,0.30000000000000004,5e-324,1.7976931348623157e308,19.990000000000000000000,1e21]',
    undefined,
  ],
  ['{"n":{"v":[1,0.1234567890123456789]}}', 'n.v.1: inexact_number'],
  ['{"n":1.917043659912705297e18}', 'n: inexact_number'],
  ['{"n":9007199254740993.0}', 'n: inexact_number'],
  ['{"n":1e-400}', 'n: inexact_number'],
  ['{"n":-900719925474099.30001}', 'n: inexact_number'],
])('reports the flaw of %s', (text, expected) => {
  const flaw = jsonFlaw(text);
  expect(flaw && `${flaw.path}: ${flaw.code}`).toBe(expected);
});
