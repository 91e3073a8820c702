import { expect, test } from 'vitest';
import { distance } from './time.tsx';

const now = new Date('2026-01-02T03:04:05.000Z');

test.each([
  [400, 'now'],
  [-400, 'now'],
  [-59_999, '59 sec. ago'],
  [-60_000, '1 min. ago'],
  [3_600_000, 'in 1 hr.'],
  [-86_400_000, 'yesterday'],
  [7 * 86_400_000, 'in 7 days'],
])('%d ms away is %s', (ms, words) => {
  expect(distance(new Date(now.getTime() + ms), now)).toBe(words);
});
