import { expect, test } from 'vitest';
import { exactJson, hasLargeInteger, jsonFlaw, parseExactJson, parseForOutput } from './exact-json.ts';

test.each([
  '{"ad":1917043659912705297}',
  '{"list":[-9007199254740993,1,9007199254740991],"text":"1917043659912705297"}',
  '[123456789012345678901234567890]',
  '{"a":0.1,"b":12345678901234567890,"c":null}',
])('keeps every digit of %s', (text) => {
  expect(exactJson(parseExactJson(text))).toBe(text);
  expect(JSON.stringify(parseForOutput(text))).toBe(text);
});

test('parses whole numbers beyond 2^53 as BigInt, and no others', () => {
  expect(
    parseExactJson('[9007199254740991,9007199254740992,-9007199254740993,1e21,"9007199254740993"]'),
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
