import { expect, test } from 'vitest';
import { clockTime, distance } from './time.tsx';

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

test('names the day only of another day, by local time', () => {
  const from = new Date(2026, 10, 3, 14, 30);
  expect(clockTime(new Date(2026, 10, 3, 9, 5), from)).toBe('at 09:05');
  expect(clockTime(new Date(2026, 10, 3, 23, 59), from)).toBe('at 23:59');
  expect(clockTime(new Date(2026, 10, 2, 23, 59), from)).toBe('on 2 Nov 2026, 23:59');
  expect(clockTime(new Date(2025, 10, 3, 14, 2), from)).toBe('on 3 Nov 2025, 14:02');
});
