import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestTimerMs } from '../client-options.ts';
import { parseRetryAfter } from './retry-after.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 3 ', 3_000],
    ['0.5', 500],
    ['1.0001', 1_001],
    ['00007', 7_000],
    ['99999999999999999999', longestTimerMs],
    [`${'9'.repeat(400)}`, longestTimerMs],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
    ['Thu Jan  1 12:00:30 2026', 30_000],
    ['Thu, 01 Jan 2026 11:59:59 GMT', 0],
    ['Sun, 01 Jan 9999 00:00:00 GMT', longestTimerMs],
    ['5, 10', 10_000],
  ])('parses %j as %d ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it.each([
    undefined,
    null,
    '',
    '  ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1.',
    '.5',
    '٣',
    'NaN',
    'Infinity',
    'soon',
    '2026-01-01T12:00:30Z',
    'Thu, 01 Jan 2026 12:00:30',
    'Thu, 01 Jan 2026 12:00:30 CET',
    'Thu, 01 Foo 2026 12:00:30 GMT',
    'Thu, 32 Jan 2026 12:00:30 GMT',
    'Thu, 01 Jan 2026 24:00:30 GMT',
    'Thu, 01 Jan 2026 12:00:30 GMT, 5',
  ])('does not parse %j', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });

  it('returns a valid timer delay or undefined for any input', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.double().map(String), fc.date().map(String)),
        fc.double(),
        (value, at) => {
          const delayMs = parseRetryAfter(value, at);
          if (delayMs === undefined) return;
          expect(Number.isSafeInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThanOrEqual(longestTimerMs);
        },
      ),
    );
  });

  it('parses every integer number of seconds and every HTTP date', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000 }), (seconds) => {
        expect(parseRetryAfter(String(seconds), now)).toBe(seconds * 1000);
        const date = new Date(now + seconds * 1000).toUTCString();
        expect(parseRetryAfter(date, now)).toBe(seconds * 1000);
      }),
    );
  });
});
