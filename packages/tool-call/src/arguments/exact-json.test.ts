import { expect, test } from 'vitest';
import { hashArguments } from './arguments-hash.ts';
import { exactDigitsOf, parseExactJson, repeatedMember, stringifyExactJson } from './exact-json.ts';

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

test('hashes numbers that differ in one digit differently, and an integer as its BigInt', async () => {
  const hashOf = (text: string) => hashArguments(parseExactJson(text));
  const digits = ['1917043659912705297', '1917043659912705298', '1917043659912705300'];
  const hashes = await Promise.all(digits.map((ad) => hashOf(`{"ad":${ad}}`)));
  expect(new Set(hashes).size).toBe(3);
  expect(hashes[0]).toBe(await hashArguments({ ad: 1917043659912705297n }));
  expect(await hashOf('[1e400]')).not.toBe(await hashOf('[1e401]'));
  expect(await hashOf('{"ad":1}')).toBe(await hashArguments({ ad: 1 }));
});

test('hashes large arguments with such numbers like small ones', async () => {
  const filler = JSON.stringify('x'.repeat(100_000));
  const hashOf = (digits: string) => hashArguments(parseExactJson(`{"ad":${digits},"text":${filler}}`));
  expect(await hashOf('1917043659912705297')).not.toBe(await hashOf('1917043659912705298'));
});

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
