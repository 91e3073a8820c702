import { expect, test } from 'vitest';
import { toIdentifier, toResourceId } from './identifiers.ts';

test.each([
  ['search', 'search'],
  ['', 'unknown'],
  ['naïve 🔎', 'naïve 🔎'],
  ['line\nbreak', 'line\u{fffd}break'],
  ['lone \ud800 surrogate', 'lone \u{fffd} surrogate'],
  ['x'.repeat(201), 'x'.repeat(200)],
  [`${'x'.repeat(199)}🔎`, `${'x'.repeat(199)}\u{fffd}`],
])('converts %j to %j', (given, expected) => {
  expect(toIdentifier(given, 'unknown')).toBe(expected);
});

test.each<[string, unknown]>([
  ['an object without a text', Object.create(null)],
  [
    'an object that cannot be converted to a string',
    {
      toString: () => {
        throw new Error('closed');
      },
    },
  ],
])('uses the fallback for %s', (_name, given) => {
  expect(toIdentifier(given as string, 'unknown')).toBe('unknown');
});

test.each([
  ['.', '\u{fffd}'],
  ['..', '\u{fffd}\u{fffd}'],
  ['...', '...'],
  ['a.b', 'a.b'],
  ['', 'agent'],
])('converts the agent or session %j to the valid %j', (given, expected) => {
  expect(toResourceId(given, 'agent')).toBe(expected);
});
