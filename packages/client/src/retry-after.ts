import { longestTimerMs } from './clock.ts';
import { parseHttpDate } from './http-date.ts';

/** Whole seconds as RFC 9110 has them, and fractions, which some gateways send. */
const seconds = /^\d+(\.\d+)?$/;

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds to wait.
 *
 * @param value The header: seconds, also as a fraction, or an HTTP date. Several joined by commas, as happens when
 * a gateway adds its own, count as the longest of them.
 * @param nowMs The time that a date is compared with, in milliseconds since the epoch. Pass the answer's own `Date`
 * where it has one, so that a wrong clock here does no harm.
 * @returns 0 for a date that is past; at most 2³¹−1, the longest that a timer can hold; undefined for anything that
 * is neither seconds nor a date (negative, empty, `NaN`, `soon`), which means: use your own delay.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => seconds.test(part))) {
    return clamp(Math.max(...parts.map(Number)) * 1000);
  }
  const date = parseHttpDate(text, nowMs);
  return date === undefined ? undefined : clamp(date - nowMs);
}

function clamp(delayMs: number): number {
  return Math.min(Math.max(0, Math.ceil(delayMs)), longestTimerMs);
}
