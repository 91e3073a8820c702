import { expect, test } from 'vitest';
import { clockDifference } from './service.ts';

const atMs = Date.UTC(2026, 0, 1);

test('takes the round trip into account', () => {
  // The service wrote its time at some moment in 20 seconds.
  const slow = { sentAtMs: atMs, receivedAtMs: atMs + 20_000, dateMs: atMs + 3000 };
  expect(clockDifference(slow).leastMs).toBe(0);
});

test('takes the whole seconds of a Date into account', () => {
  const { leastMs } = clockDifference({ sentAtMs: atMs + 990, receivedAtMs: atMs + 990, dateMs: atMs });
  expect(leastMs).toBe(0);
});

test.each([
  ['ahead', 3_600_000, 1],
  ['behind', -3_600_000, -1],
])('reports a clock that is %s', (_direction, offMs, sign) => {
  const time = { sentAtMs: atMs + offMs, receivedAtMs: atMs + offMs + 200, dateMs: atMs };
  const { estimateMs, leastMs } = clockDifference(time);
  expect(Math.sign(estimateMs)).toBe(sign);
  expect(leastMs).toBeGreaterThan(3_598_000);
  expect(leastMs).toBeLessThanOrEqual(3_600_000);
});
