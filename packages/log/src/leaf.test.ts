import { createHash } from 'node:crypto';
import { parseExactJson } from '@actlog/protocol';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, createSalt, recordEntry } from './leaf.ts';

test('serializes any JSON value as the canonicalization library does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
});

test('serializes the examples of RFC 8785', () => {
  const value = JSON.parse(
    '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":[333333333.33333329,1E30,4.50,2e-3,-0]}',
  );
  expect(canonicalJson(value)).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"ö":[333333333.3333333,1e+30,4.5,0.002,0],"€":1,"😀":5,"\ufb33":3}',
  );
});

test('keeps every digit of a number that a double cannot hold', () => {
  expect(canonicalJson(parseExactJson('{"id":1917043659912705297}'))).toBe('{"id":1917043659912705297}');
  expect(canonicalJson({ id: 1917043659912705297n })).toBe('{"id":1917043659912705297}');
});

test('leaves members out that are undefined, and keeps __proto__', () => {
  expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":2}'))).toBe('{"__proto__":2,"b":1}');
});

test.each([[Number.NaN], [undefined], [() => 1], [Symbol('a')], ['\ud800'], [[undefined]]])(
  'refuses %o, which has no canonical JSON',
  (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  },
);

test('is the SHA-256 of the salt and the canonical record', () => {
  const salt = Buffer.alloc(16, 1);
  const record = { kind: 'event', id: 'evt_1', row: { b: 1, a: 'x' } } as const;
  const expected = createHash('sha256')
    .update(salt)
    .update('{"id":"evt_1","kind":"event","row":{"a":"x","b":1}}')
    .digest();
  expect(recordEntry(record, salt)).toEqual(expected);
  expect(recordEntry(record, createSalt())).not.toEqual(expected);
  for (const other of [
    { ...record, kind: 'audit' as const },
    { ...record, id: 'evt_2' },
    { ...record, row: { a: 'x', b: 2 } },
  ]) {
    expect(recordEntry(other, salt)).not.toEqual(expected);
  }
  expect(() => recordEntry(record, Buffer.alloc(15))).toThrow(
    'The salt of a record must have 16 bytes, got 15.',
  );
});
