import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { parseDuration, parseSeconds, parseTime } from './duration.ts';

it.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['1.5h', 5_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
])('parses %s', (text, durationMs) => {
  expect(parseDuration(text)).toBe(durationMs);
});

it.each(['', '5', '1y', '-1h', '0s', '1h30m', 'h'])('rejects %j as a duration', (text) => {
  expect(() => parseDuration(text)).toThrow(InvalidArgumentError);
});

it('parses a duration into whole seconds', () => {
  expect(parseSeconds('15m')).toBe(900);
  expect(parseSeconds('100ms')).toBe(1);
});

it('parses a time in ISO 8601, or as a duration before now', () => {
  expect(parseTime('2026-01-05T10:00:00Z').toISOString()).toBe('2026-01-05T10:00:00.000Z');
  const before = Date.now();
  const parsed = parseTime('24h').getTime();
  expect(parsed).toBeGreaterThanOrEqual(before - 86_400_000);
  expect(parsed).toBeLessThanOrEqual(Date.now() - 86_400_000);
});

it.each(['yesterday', '2026-13-45', '12', ''])('rejects %j as a time', (text) => {
  expect(() => parseTime(text)).toThrow(InvalidArgumentError);
});
