import { expect, test } from 'vitest';
import { requestedDelayMs, retryDelayMs } from './delivery-attempt.ts';

const hourMs = 3_600_000;

test('follows the schedule of Standard Webhooks with up to 10% jitter, then stops', () => {
  const asked = [5000, 300_000, 1_800_000, 2, 5, 10, 14, 20, 24].map((value) =>
    value < 100 ? value * hourMs : value,
  );
  for (const [index, delayMs] of asked.entries()) {
    const given = retryDelayMs(index + 1) as number;
    expect(given).toBeGreaterThanOrEqual(delayMs);
    expect(given).toBeLessThanOrEqual(delayMs * 1.1);
  }
  expect(retryDelayMs(asked.length + 1)).toBeUndefined();
});

test('follows a longer delay that the receiver requests, up to a day', () => {
  expect(retryDelayMs(1, 60_000)).toBe(60_000);
  expect(retryDelayMs(1, 99 * hourMs)).toBe(24 * hourMs);
  expect(retryDelayMs(2, 1)).toBeGreaterThanOrEqual(300_000);
});

test.each([
  [undefined, 0],
  ['120', 120_000],
  ['-5', 0],
  ['soon', 0],
  ['99999999999999999999', 0],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 60_000],
])('reads Retry-After %j as %j milliseconds', (header, delayMs) => {
  expect(requestedDelayMs(header, 0)).toBe(delayMs);
});
