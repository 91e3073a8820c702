import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryString } from './request-options.ts';

describe('queryString', () => {
  it('serializes to what a server parses', () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean());
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1, unit: 'grapheme' }), value), (query) => {
        const read = new URLSearchParams(queryString(query));
        expect([...read]).toEqual(Object.entries(query).map(([name, given]) => [name, String(given)]));
      }),
    );
  });

  it('omits undefined and null, repeats arrays, and formats dates in UTC', () => {
    const query = { a: undefined, b: null, c: ['x', 2], d: new Date(0) };
    expect(queryString(query)).toBe('?c=x&c=2&d=1970-01-01T00%3A00%3A00.000Z');
    expect(queryString({})).toBe('');
    expect(queryString(undefined)).toBe('');
  });

  it.each([Number.NaN, Infinity, {}, new Date('x'), () => 1, '\ud800'])('rejects %s', (value) => {
    expect(() => queryString({ startedAfter: value as never })).toThrow(
      /^query parameter startedAfter must be/,
    );
  });
});
