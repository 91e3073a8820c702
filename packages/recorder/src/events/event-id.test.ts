import { expect, test, vi } from 'vitest';
import { createEventId } from './event.ts';

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const start = Date.UTC(2100, 0, 1);

test('creates a version 7 UUID of the given millisecond', () => {
  const id = createEventId(start);
  expect(id).toMatch(version7);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(start);
});

test('creates unique, ascending ids within a millisecond and when the clock goes back', () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => createEventId(start + 1000 - (index % 3)));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test.each([0, -1, 0.5])('creates a valid first id with a fake clock at %s', async (nowMs) => {
  vi.resetModules();
  const { createEventId, eventIdTimeMs } = await import('./event.ts');
  const id = createEventId(nowMs);
  expect(id).toMatch(version7);
  expect(eventIdTimeMs(id)).toBe(0);
  expect(createEventId(nowMs) > id).toBe(true);
});
