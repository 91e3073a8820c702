import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexOfText, splitText } from './linear-functions.ts';

const ab = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });

/** Makes texts that exceed the native search limit. */
const long = (text: string) => text.replaceAll('b', 'b'.repeat(300));

test('finds and splits like String methods', () => {
  fc.assert(
    fc.property(ab(4), ab(14), fc.nat(3), (searched, text, from) => {
      expect(indexOfText(text, searched, from)).toBe(text.indexOf(searched, from));
      expect(indexOfText(long(text), long(searched), from)).toBe(long(text).indexOf(long(searched), from));
      expect(splitText(text, searched)).toEqual(text.split(searched));
      expect(splitText(long(text), long(searched))).toEqual(long(text).split(long(searched)));
    }),
  );
});

test.each([
  ['a,b,c', ',', 2, ['a', 'b,c']],
  ['a,b,c', ',', 1, ['a,b,c']],
  ['a,b,c', ',', 0, []],
  ['a,b,c', ',', 3, ['a', 'b', 'c']],
  ['abc', '', 2, ['a', 'bc']],
  ['abc', '', 9, ['a', 'b', 'c']],
  ['', ',', 9, ['']],
])('splits %j at %j into %i parts at most', (text, separator, most, parts) => {
  expect(splitText(text, separator, most)).toEqual(parts);
});

test('searches for a long text in linear time', () => {
  const text = 'a'.repeat(1_000_000);
  const searched = `aab${'a'.repeat(500_000)}`;
  expect(indexOfText(text, searched)).toBe(-1);
  expect(splitText(text, searched)).toEqual([text]);
});
