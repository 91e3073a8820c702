import { expect, test } from 'vitest';
import { identifyApiKey, newApiKey } from './api-key.ts';

test.each(['live', 'test'] as const)('recognizes a new %s key by its form', (kind) => {
  const key = newApiKey(kind);
  expect(key).toMatch(new RegExp(`^al_${kind}_[0-9A-Za-z]{48}$`));
  expect(identifyApiKey(key)).toEqual({ kind, id: key.slice(8, 18), digest: expect.any(String) });
  expect(newApiKey(kind)).not.toBe(key);
});

test('rejects a key with any other character', () => {
  const key = newApiKey('live');
  for (let place = 8; place < key.length; place += 1) {
    const other = key[place] === 'x' ? 'y' : 'x';
    expect(identifyApiKey(key.slice(0, place) + other + key.slice(place + 1))).toBeUndefined();
  }
});
