import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob } from './glob.ts';

test.each([
  ['', '', true],
  ['', 'a', false],
  ['search', 'search', true],
  ['search', 'search2', false],
  ['*', '', true],
  ['*', 'anything', true],
  ['**', 'x', true],
  ['a*', 'a', true],
  ['*a', 'ba', true],
  ['*a', 'ab', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['ab*ba', 'aba', false], // the two ends must not overlap
  ['a*a*a', 'aa', false],
  ['a.c', 'abc', false],
  ['[a-z]', 'b', false],
  ['*ab*ab', 'abab', true],
  ['*ab*ab', 'ab', false],
  ['delete_*', 'delete_user', true],
  ['delete_*', 'undelete_user', false],
  ['*_user', 'delete_users', false],
])('%j on %j → %j', (pattern, text, fits) => {
  expect(matchesGlob(pattern, text)).toBe(fits);
});

test('matches in linear time, not in the product of the lengths', () => {
  const half = 'a'.repeat(500_000);
  expect(matchesGlob(`*${half}b*`, half + half)).toBe(false);
  expect(matchesGlob(`*${half}*${half}*`, half + half)).toBe(true);
  expect(matchesGlob(`${'*a'.repeat(20_000)}b`, half)).toBe(false);
});

test('matches the same names as a regular expression with .*', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(pattern, text, (glob, name) => {
      expect(matchesGlob(glob, name)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
    }),
  );
});
