import { expect, test } from 'vitest';
import { fitsGlob } from './glob.ts';

test.each([
  ['search', 'search', true],
  ['search', 'search2', false],
  ['*', '', true],
  ['delete_*', 'delete_user', true],
  ['*_user', 'delete_users', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['ab*ba', 'aba', false], // what both ends need is not there twice
  ['**', 'anything', true],
  ['a*a*a', 'aa', false],
  ['x.y', 'xzy', false],
])('%s and %s: %s', (pattern, text, fits) => {
  expect(fitsGlob(pattern, text)).toBe(fits);
});
