import { afterEach, expect, test } from 'vitest';
import { processWide, processWidePerOwner } from './process-wide.ts';

const name = '@actlog/recorder/process-wide-test';
const key = Symbol.for(name);
const registry = globalThis as { [key]?: unknown };

afterEach(() => {
  delete registry[key];
});

test('shares a value between copies, created on the first call', () => {
  const first = processWide(name, () => ({ by: 'first' }));
  const second = processWide(name, () => ({ by: 'second' }));
  expect(registry[key]).toBeUndefined();
  expect(second()).toEqual({ by: 'second' });
  expect(first()).toBe(second());
  expect(registry[key]).toBe(first());
});

test('looks the value up once', () => {
  const give = processWide(name, () => ({}));
  const found = give();
  delete registry[key];
  expect(give()).toBe(found);
});

test('retries after a failed creation', () => {
  let attempts = 0;
  const give = processWide(name, () => {
    attempts += 1;
    if (attempts === 1) throw new Error('not yet');
    return {};
  });
  expect(give).toThrow('not yet');
  expect(give()).toBe(give());
  expect(attempts).toBe(2);
});

test('creates one value per owner, shared by all copies', () => {
  const first = processWidePerOwner(name, () => new Set<string>());
  const second = processWidePerOwner(name, () => new Set<string>());
  const [owner, other] = [{}, {}];
  first(owner).add('seen');
  expect(second(owner)).toBe(first(owner));
  expect(second(other)).toEqual(new Set());
  expect(registry[key]).toBeInstanceOf(WeakMap);
});
