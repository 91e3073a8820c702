import { expect, test } from 'vitest';
import { areBounded } from './checked-action.ts';

const list = (length: number) => new Array(length).fill(null);

/** Returns objects nested to the given depth. */
function nested(depth: number): Record<string, unknown> {
  let outermost = {};
  for (let level = 1; level < depth; level += 1) outermost = { i: outermost };
  return outermost;
}

test.each([
  ['nothing', {}, true],
  ['the maximum number of values', { list: list(498) }, true],
  ['one value more', { list: list(499) }, false],
  ['the maximum, spread over lists', { a: list(248), b: list(249) }, true],
  ['one more, spread over lists', { a: list(249), b: list(249) }, false],
  ['the maximum text length', { a: 'a'.repeat(16_383), b: ['b'.repeat(16_383)] }, true],
  ['one character more', { a: 'a'.repeat(16_383), b: ['b'.repeat(16_384)] }, false],
  ['the maximum text length including names', { ['a'.repeat(16_384)]: 'b'.repeat(16_384) }, true],
  ['one character more in a name', { ['a'.repeat(16_385)]: 'b'.repeat(16_384) }, false],
  ['the maximum depth', nested(500), true],
  ['one level deeper', nested(501), false],
  ['more than a function call can take', { list: list(1_000_000) }, false],
])('%s: %#', (_what, shown, isBounded) => {
  expect(areBounded(shown)).toBe(isBounded);
});

test('a circular value exceeds the limit', () => {
  const shown: Record<string, unknown> = {};
  shown.itself = shown;
  expect(areBounded(shown)).toBe(false);
});
