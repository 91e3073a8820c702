import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinearSearch } from './linear-functions.ts';

const ab = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });

test('returns the same index as indexOf', () => {
  fc.assert(
    fc.property(ab(6), ab(20), fc.nat(20), (searched, text, from) => {
      fc.pre(from <= text.length);
      expect(new LinearSearch(searched).indexIn(text, from)).toBe(text.indexOf(searched, from));
    }),
  );
});

test('ignores matches that extend beyond the end', () => {
  const search = new LinearSearch('ab');
  expect(search.indexIn('xxab', 0, 4)).toBe(2);
  expect(search.indexIn('xxab', 0, 3)).toBe(-1);
  expect(search.indexIn('xxab', 3)).toBe(-1);
});
