import { expect, test } from 'vitest';
import { toIdentifier } from './identifier.ts';

test.each([
  ['search', 'search'],
  ['', 'unknown'],
  ['naïve 🔎', 'naïve 🔎'],
  ['line\nbreak', 'line\u{fffd}break'],
  ['lone \ud800 surrogate', 'lone \u{fffd} surrogate'],
  ['x'.repeat(201), 'x'.repeat(200)],
  [`${'x'.repeat(199)}🔎`, `${'x'.repeat(199)}\u{fffd}`],
])('%j becomes %j', (given, expected) => {
  expect(toIdentifier(given, 'unknown')).toBe(expected);
});

test.each<[string, unknown]>([
  ['an object without a text', Object.create(null)],
  [
    'an object whose text cannot be read',
    {
      toString: () => {
        throw new Error('closed');
      },
    },
  ],
])('%s is no name', (_name, given) => {
  expect(toIdentifier(given as string, 'unknown')).toBe('unknown');
});
