import { expect, test } from 'vitest';
import { sameJson } from './tenant.ts';

test.each([
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{ a: null }, { a: {} }, false],
  ['1', 1, false],
  [0, -0, true],
  [{ a: 1 }, { b: 1 }, false],
])('%j and %j: %s', (left, right, isSame) => {
  expect(sameJson(left, right)).toBe(isSame);
});
