import { expect, onTestFinished, test } from 'vitest';
import { createEventId } from './endpoint-caller.ts';

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('an id is a random UUID', () => {
  expect(createEventId()).toMatch(uuid);
  expect(createEventId()).not.toBe(createEventId());
});

test('it is one where the platform makes none, as for a page over plain HTTP', () => {
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(crypto, 'randomUUID'));
  const ids = Array.from({ length: 1000 }, createEventId);
  for (const id of ids) expect(id).toMatch(uuid);
  expect(new Set(ids).size).toBe(ids.length);
});
