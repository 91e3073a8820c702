import { expect, onTestFinished, test } from 'vitest';
import { mintEventId } from './event-id.ts';

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('an id is a random UUID', () => {
  expect(mintEventId()).toMatch(uuid);
  expect(mintEventId()).not.toBe(mintEventId());
});

test('it is one where the platform makes none, as for a page over plain HTTP', () => {
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(crypto, 'randomUUID'));
  const ids = Array.from({ length: 1000 }, mintEventId);
  for (const id of ids) expect(id).toMatch(uuid);
  expect(new Set(ids).size).toBe(ids.length);
});
