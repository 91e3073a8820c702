import { expect, test } from 'vitest';
import { areBounded } from './shown-arguments.ts';

const list = (length: number) => new Array(length).fill(null);

/** Objects, one in the other. */
function nested(depth: number): Record<string, unknown> {
  let outermost = {};
  for (let level = 1; level < depth; level += 1) outermost = { i: outermost };
  return outermost;
}

test.each([
  ['nothing', {}, true],
  ['as many values as may be', { list: list(498) }, true],
  ['one value more', { list: list(499) }, false],
  ['as many, spread over lists', { a: list(248), b: list(249) }, true],
  ['one more, spread over lists', { a: list(249), b: list(249) }, false],
  ['as much text as may be', { a: 'a'.repeat(16_383), b: ['b'.repeat(16_383)] }, true],
  ['one character more', { a: 'a'.repeat(16_383), b: ['b'.repeat(16_384)] }, false],
  ['as much text in names as may be', { ['a'.repeat(16_384)]: 'b'.repeat(16_384) }, true],
  ['one character more in a name', { ['a'.repeat(16_385)]: 'b'.repeat(16_384) }, false],
  ['as deep as may be', nested(500), true],
  ['one deeper', nested(501), false],
  ['more than a call can take', { list: list(1_000_000) }, false],
])('%s: %#', (_what, shown, isBounded) => {
  expect(areBounded(shown)).toBe(isBounded);
});

test('what holds itself is beyond every bound', () => {
  const shown: Record<string, unknown> = {};
  shown.itself = shown;
  expect(areBounded(shown)).toBe(false);
});
