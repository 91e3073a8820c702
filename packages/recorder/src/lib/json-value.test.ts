import { expect, test } from 'vitest';
import { jsonTextOf } from './json-value.ts';

test('serializes like JSON.stringify, also objects that occur twice', () => {
  const shared = { at: new Date(0), list: [1, undefined, 'ü'] };
  for (const value of [{ a: shared, b: [shared] }, 'text', undefined, null, 12]) {
    expect(jsonTextOf(value)).toBe(JSON.stringify(value));
  }
});

test('throws for few objects that would be an endless text', () => {
  let value: unknown = 1;
  for (let level = 0; level < 60; level += 1) value = { left: value, right: value };
  expect(() => jsonTextOf(value)).toThrow('The same objects occur too often.');
});
